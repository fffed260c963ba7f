// Fences protect where Redlock does not: the two counterexamples of M. Kleppmann, on real servers.
#include <gtest/gtest.h>

#include "faults/redlock_servers.hpp"
#include "support/stepped_clock.hpp"

namespace holdfast::faults {
namespace {

TEST(redlock_counterexample, is_answered_by_the_deadline_and_the_fence) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  fence_gate storage;
  // The lease is not renewed, as if its process were stopped for longer than the ttl.
  const lease first = one.store.acquire("a", {.ttl = 300ms, .renew = false});
  const std::optional<lease> second = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(second);
  EXPECT_FALSE(first.held());
  EXPECT_TRUE(storage.admit(second->fence()));
  EXPECT_FALSE(storage.admit(first.fence())) << "this write was in transit all the time";
}

class redlock_clock : public testing::Test {
 protected:
  [[nodiscard]] std::string url() const { return url_with(third.socket()); }
  [[nodiscard]] std::string url_with(const std::string& last) const {
    return "redlock+unix://" + first.socket() + "," + second.socket() + "," + last +
           "?timeout=300ms&young_nodes=vote&max_ttl=1h";
  }

  const test::stepped_clock clock;  // of the second one alone
  const test::redis_server first, second{{}, {}, clock.environment()}, third;
};

TEST_F(redlock_clock, raises_the_fence_of_a_second_holder_after_a_jump) {
  watched_client one(url_with("/nowhere")), other(url());
  const lease before = one.store.acquire("a", {.ttl = 1h, .renew = false});  // of the first and the second
  clock.set_ahead(2h);                                                       // the key of the second one has expired
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_TRUE(before.held()) << "it counts on a server whose clock has jumped";
  fence_gate storage;
  EXPECT_TRUE(storage.admit(next->fence()));
  EXPECT_FALSE(storage.admit(before.fence()));
}

TEST_F(redlock_clock, reports_a_step_with_the_name_of_the_server) {
  watched_client one(url()), other(url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  auto waiting = other.wait_for("a");
  const std::string queue = redlock_servers::key("a") + ":q";
  EXPECT_TRUE(test::eventually([&] { return second.ask({"ZCARD", queue}).number == 1; })) << "it was asked there";
  EXPECT_TRUE(other.seen->events(event::kind::warning).empty());
  clock.set_ahead(10s);
  EXPECT_TRUE(other.seen->comes(event::kind::warning, 1));
  const std::string text(other.seen->events(event::kind::warning).back().text);
  EXPECT_NE(text.find("the server's clock was set"), std::string::npos) << text;
  EXPECT_NE(text.find(second.socket()), std::string::npos) << text;
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_F(redlock_clock, does_no_harm_if_it_jumps_at_one_server_of_three) {
  watched_client one(url()), other(url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  const auto has_it = [&](const test::redis_server& each) {
    return !each.ask({"GET", redlock_servers::key("a")}).text.empty();
  };
  EXPECT_TRUE(test::eventually([&] { return has_it(first) && has_it(second) && has_it(third); }));
  clock.set_ahead(2h);
  EXPECT_FALSE(other.store.try_acquire("a"));
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::faults
