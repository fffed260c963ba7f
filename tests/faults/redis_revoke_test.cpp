// A revoke request reaches the holder of a lock on a real Redis even if messages are lost.
#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

class redis_revoke : public testing::Test {
 protected:
  test::redis_server server;
  [[nodiscard]] std::string url() const { return server.url("timeout=1s"); }
  [[nodiscard]] long times_heard(const watched_client& c) const {
    return static_cast<long>(c.seen->events(event::kind::revoke_requested).size());
  }
};

TEST_F(redis_revoke, reaches_a_subscribed_holder_at_once) {
  watched_client one(url()), other(url());
  std::optional<lease> before = other.store.acquire("a");
  auto waiting = one.wait_for("a", {.ttl = 1h});  // so it listens
  before.reset();
  const std::optional<lease> held = test::get(std::move(waiting));
  ASSERT_TRUE(held);
  const std::size_t renewed = one.seen->events(event::kind::renewed).size();
  EXPECT_TRUE(other.store.revoke("a", "now"));
  EXPECT_TRUE(happens(held->revoke_requested()));
  EXPECT_LE(one.seen->events(event::kind::renewed).size(), renewed + 1) << "a ttl of an hour is renewed after minutes";
}

TEST_F(redis_revoke, reaches_an_unsubscribed_holder_at_its_next_renewal) {
  watched_client one(url()), other(url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_EQ(server.ask({"PUBSUB", "SHARDCHANNELS"}).items.size(), 0u) << "the holder is not subscribed";
  EXPECT_TRUE(other.store.revoke("a", "later"));
  EXPECT_TRUE(held.renew(1h));
  EXPECT_TRUE(happens(held.revoke_requested()));
  ASSERT_TRUE(one.seen->comes(event::kind::revoke_requested));
  EXPECT_EQ(one.seen->events(event::kind::revoke_requested).front().text, "later");
}

TEST_F(redis_revoke, leaves_no_key_after_the_lease) {
  watched_client one(url()), other(url());
  {
    const lease held = one.store.acquire("a", {.ttl = 300ms});
    EXPECT_TRUE(other.store.revoke("a"));
    EXPECT_EQ(server.keys("*:a").size(), 1u);
    EXPECT_TRUE(one.seen->comes(event::kind::renewed, 4));
    EXPECT_EQ(server.keys("*:a").size(), 1u) << "it lasts as long as what is held";
  }
  EXPECT_TRUE(test::eventually([&] { return server.keys("*:a").empty(); }));
}

TEST_F(redis_revoke, keeps_a_request_for_any_lease_after_one_for_a_fence) {
  watched_client one(url()), other(url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(other.store.revoke("a", "any"));
  EXPECT_TRUE(other.store.revoke("a", "another lease of its process", held.fence() + 1));
  EXPECT_TRUE(held.renew(1h));
  EXPECT_TRUE(happens(held.revoke_requested()));
}

TEST_F(redis_revoke, shows_host_and_program_of_the_holder) {
  watched_client one(url()), other(url());
  const lease held = one.store.acquire("a", {.ttl = 300ms});
  EXPECT_TRUE(one.seen->comes(event::kind::renewed));  // it has introduced itself by then
  EXPECT_TRUE(test::eventually([&] { return other.store.inspect("a").holders.at(0).pid == ::getpid(); }));
  const state is = other.store.inspect("a");
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  EXPECT_EQ(is.holders.at(0).host, host);
  EXPECT_EQ(is.holders.at(0).program, program_invocation_short_name);
}

TEST_F(redis_revoke, fails_for_a_holder_of_another_library_but_shows_it) {
  watched_client one(url());
  server.ask({"SET", "holdfast:{a}", "6f1c2a9e-1b5e-4f7e-9d8a-0c3b2a1d4e5f", "NX", "PX", "60000"});
  state is = one.store.inspect("a");
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holding, 1u);
  EXPECT_TRUE(is.holders[0].foreign);
  EXPECT_EQ(is.holders[0].label, "");
  EXPECT_EQ(is.holders[0].owner, "");
  EXPECT_EQ(is.holders[0].fence, 0u);
  ASSERT_TRUE(is.holders[0].left);
  EXPECT_LE(*is.holders[0].left, 60s);
  EXPECT_EQ(failure_of([&] { (void)one.store.revoke("a"); }).first, errc::foreign);
  server.ask({"PERSIST", "holdfast:{a}"});
  is = one.store.inspect("a");
  EXPECT_FALSE(is.holders.at(0).left);
}

TEST_F(redis_revoke, works_without_a_prefix) {
  watched_client one(server.url("prefix=")), other(server.url("prefix="));
  lease held = one.store.acquire("orders", {.ttl = 1h, .label = "x"});
  EXPECT_EQ(other.store.inspect("orders").holders.at(0).label, "x");
  EXPECT_TRUE(other.store.revoke("orders"));
  EXPECT_TRUE(held.renew(1h));
  EXPECT_TRUE(happens(held.revoke_requested()));
  EXPECT_EQ(failure_of([&] { (void)one.store.inspect("holdfast:x"); }).first, errc::bad_name);
  EXPECT_EQ(failure_of([&] { (void)one.store.revoke("holdfast:x"); }).first, errc::bad_name);
}

TEST_F(redis_revoke, reaches_all_of_five_thousand_readers) {
  watched_client one(url()), other(url());
  std::vector<lease> readers;
  for (int n = 0; n < 5'000; ++n) readers.push_back(one.store.acquire("a", {.ttl = 1h, .shared = true}));
  const state is = other.store.inspect("a");
  EXPECT_EQ(is.holding, 5'000u);
  EXPECT_EQ(is.holders.size(), state::most_listed);
  auto waiting = one.wait_for("a");  // so it listens
  EXPECT_EQ(other.store.inspect("a").waiting, 1u);
  EXPECT_TRUE(other.store.revoke("a"));
  EXPECT_TRUE(one.seen->comes(event::kind::revoke_requested, 5'000));
  readers.clear();
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_EQ(times_heard(one), 5'000);
}

}  // namespace
}  // namespace holdfast::faults
