// Sentinels: a primary that is killed, paused, replaced by command, or lacks what was not replicated; and sentinels
// that are dead, do not know the service, or require a password.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "faults/failover.hpp"
#include "faults/redis_store.hpp"
#include "holdfast/fence_header.hpp"
#include "holdfast/redis_fence_gate.hpp"
#include "redis/lock/client.hpp"
#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "support/acl_in_the_document.hpp"
#include "support/found.hpp"
#include "support/redis_group.hpp"

namespace holdfast::faults {
namespace {

using test::redis_group;

/// Long enough that a busy machine is not taken for dead.
const redis_group::shape fails_over{.down_after = 1500ms};

bool has_key(redis_group& all, std::size_t server, const std::string& key) {
  return !all.server(server).keys(key).empty();
}

TEST(redis_sentinel, finds_the_primary_and_locks_there) {
  redis_group all;
  watched_client one(all.url(short_timeout)), other(all.url(short_timeout));
  lease held = one.store.acquire("a");
  EXPECT_TRUE(has_key(all, 0, "holdfast:{a}"));
  auto waiting = other.wait_for("a");
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_EQ(all.server(0).ask({"INFO", "commandstats"}).text.find("cmdstat_readonly"), std::string::npos);
}

TEST(redis_sentinel, keeps_holders_and_waiters_after_a_manual_failover) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience), other(all.url(short_timeout), failover_patience),
      third(all.url(short_timeout), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});
  auto second_in_line = other.wait_for("a", {.ttl = 60s});
  auto third_in_line = third.wait_for("a", {.ttl = 60s});
  const std::size_t renewed = one.seen->events(event::kind::renewed).size();
  all.fail_over();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed + 1)) << "it is verified at the new primary";
  EXPECT_TRUE(held.held());
  const std::size_t now = all.primary();
  EXPECT_TRUE(has_key(all, now, "holdfast:{a}"));
  EXPECT_TRUE(test::eventually([&] { return all.server(now).ask({"PUBSUB", "SHARDCHANNELS"}).items.size() >= 3; }))
      << "all of them listen there: waiters that cannot be reached are skipped";
  EXPECT_EQ(held.release(), released::yes);
  std::optional<lease> second = test::get(std::move(second_in_line));
  ASSERT_TRUE(second);
  EXPECT_GT(second->fence(), held.fence());
  EXPECT_EQ(third_in_line.wait_for(0s), std::future_status::timeout) << "it has kept its place behind the second";
  EXPECT_EQ(second->release(), released::yes);
  EXPECT_TRUE(test::get(std::move(third_in_line)));
}

/// Notes that the store was reported to be back.
class first_return final : public storage::backend_events {
 public:
  void back() noexcept override {
    if (!told.test_and_set()) promise.set_value();
  }
  std::promise<void> promise;
  std::atomic_flag told;
};

TEST(redis_sentinel, reports_recovery_when_the_primary_changes) {
  redis_group all;
  runtime::loop loop;
  const std::unique_ptr<redis::client> client = redis::client::open(all.url(short_timeout), loop);
  first_return is_back;
  client->start(is_back);
  loop.start();
  runtime::inline_io here;
  {
    const auto claim = client->open({.name = "a", .owner = {1, 2}, .ttl = 20s});
    EXPECT_TRUE(run_inline(claim->poll(here, within(test::hang))).is_yes()) << "over the pool only";
    EXPECT_FALSE(is_back.told.test());
    all.fail_over();
    test::get(is_back.promise.get_future());
  }
  client->close();
  loop.stop();
}

TEST(redis_sentinel, keeps_a_replicated_lock_when_the_primary_dies) {
  redis_group all(fails_over);
  watched_client one(all.url(short_timeout), failover_patience), other(all.url(short_timeout), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});
  auto waiting = other.wait_for("a", {.ttl = 60s});
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}") && all.have_all("holdfast:{a}:q"); }));
  all.server(0).kill();
  EXPECT_TRUE(all.is_replaced(0));
  // The holder is verified there, and no other client has taken it meanwhile.
  EXPECT_EQ(held.release(), released::yes);
  std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_TRUE(has_key(all, all.primary(), "holdfast:{a}"));
}

TEST(redis_sentinel, reports_loss_at_once_when_the_new_primary_lacks_the_lock) {
  redis_group all(fails_over);
  watched_client one(all.url(short_timeout), failover_patience), other(all.url(short_timeout), failover_patience);
  {
    const lease warm = one.store.acquire("b");  // so that there are connections
  }
  all.cut_off(1);
  all.cut_off(2);
  lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  auto waiting = other.wait_for("a", {.ttl = 60s});
  all.server(0).kill();
  EXPECT_TRUE(happens(lost)) << "long before the ttl";
  EXPECT_TRUE(one.seen->comes(event::kind::lost));
  std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence()) << "the floor of time holds though the last fence is gone";
  EXPECT_EQ(held.release(), released::lost);
  EXPECT_TRUE(next->held());
}

TEST(redis_sentinel, reports_loss_at_once_without_an_event_connection) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience);
  all.cut_off(1);
  all.cut_off(2);
  const lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  all.fail_over();
  EXPECT_TRUE(happens(lost));
}

TEST(redis_sentinel, does_not_lock_at_a_paused_primary_after_a_failover) {
  redis_group all(fails_over);
  watched_client one(all.url(short_timeout), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}"); }));
  all.server(0).stop();
  EXPECT_TRUE(all.is_replaced(0));
  const std::size_t now = all.primary();
  {
    const lease first = one.store.acquire("moved");  // we know the new one
  }
  all.server(0).go_on();
  // For a while it still believes that it is the primary, and would take writes.
  for (int n = 0; n < 200; ++n) {
    const std::string name = "b/" + std::to_string(n);
    const lease taken = n % 20 == 0 ? open(all.url(short_timeout), {.patience = failover_patience}).acquire(name)
                                    : one.store.acquire(name);
    EXPECT_TRUE(has_key(all, now, "holdfast:{" + name + "}"));
  }
  EXPECT_TRUE(test::eventually([&] { return all.is_replica(0); }));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

TEST(redis_sentinel, follows_a_failover_with_one_of_three_sentinels_dead) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});  // asks the first, and listens to all
  all.sentinel(0).kill();
  EXPECT_TRUE(held.renew(60s));
  watched_client other(all.url(short_timeout), failover_patience);  // finds the way without it
  EXPECT_TRUE(other.store.try_acquire("b", within(test::hang)));
  all.fail_over();
  // Another sentinel than ours may have noticed it first.
  EXPECT_TRUE(test::eventually([&] {
    const std::optional<lease> taken = one.store.try_acquire("c", within(test::hang));
    return taken && has_key(all, all.primary(), "holdfast:{c}");
  }));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

TEST(redis_sentinel, keeps_open_connections_when_all_sentinels_are_dead) {
  redis_group all;
  watched_client one(all.url(short_timeout)), other(all.url(short_timeout), 300ms);
  lease held = one.store.acquire("a", {.ttl = 2s});
  EXPECT_TRUE(one.seen->comes(event::kind::renewed));
  for (std::size_t n = 0; n < 3; ++n) all.sentinel(n).kill();
  const std::size_t before = one.seen->events(event::kind::renewed).size();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, before + 2));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(one.store.try_acquire("b", within(test::hang)));
  // A client that has to connect cannot know whether that is still the primary.
  const auto [why, text] = failure_of([&] { (void)other.store.acquire("c"); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_NE(text.find("no sentinel says where the primary of shop-locks is"), std::string::npos) << text;
  EXPECT_NE(text.find("Connection refused"), std::string::npos) << text;
}

TEST(redis_sentinel, asks_the_next_sentinel_when_one_hangs) {
  redis_group all;
  all.sentinel(0).stop();
  watched_client one(all.url(short_timeout), failover_patience);
  EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
  all.sentinel(0).go_on();
}

TEST(redis_sentinel, names_known_services_when_the_service_is_unknown) {
  redis_group all;
  std::string url = all.url(short_timeout);
  url.replace(url.find(redis_group::service), std::string(redis_group::service).size(), "mymaster");
  watched_client one(url, failover_patience);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::bad_url) << text;
  EXPECT_NE(text.find("it knows no service mymaster; those that it knows: shop-locks"), std::string::npos) << text;
}

TEST(redis_sentinel, refuses_a_server_that_is_not_a_sentinel) {
  const int port = test::free_port();
  const test::redis_server alone({"--bind", "127.0.0.1", "--port", std::to_string(port)});
  const std::string url = "redis+sentinel://127.0.0.1:" + std::to_string(port) + "/shop-locks";
  const auto [why, text] = failure_of([&] { (void)open(url, {.patience = failover_patience}).acquire("a"); });
  EXPECT_EQ(why, errc::unsupported);
  EXPECT_NE(text.find("it is no sentinel"), std::string::npos) << text;
}

TEST(redis_sentinel, is_refused_as_a_plain_server) {
  redis_group all;
  const std::string three = all.url(), scheme = "redis+sentinel://";
  const std::string sentinel = three.substr(scheme.size(), three.find(',') - scheme.size());
  for (const std::string& url : {"redis://" + sentinel, "redis+cluster://" + sentinel}) {
    const auto [why, text] = failure_of([&] { (void)open(url, {.patience = failover_patience}).acquire("a"); });
    EXPECT_EQ(why, errc::unsupported);
    EXPECT_NE(text.find("this is a sentinel"), std::string::npos) << text;
    EXPECT_NE(text.find(scheme + sentinel + "/service"), std::string::npos) << text;
  }
}

TEST(redis_sentinel, requires_its_own_password_and_never_prints_it) {
  redis_group all({.sentinel_password = "s3ntinel"});
  watched_client none(all.url(short_timeout), failover_patience),
      wrong(all.url("sentinel_password=wr0ng"), failover_patience);
  watched_client right(all.url("sentinel_password=s3ntinel"), failover_patience);
  const auto [why, text] = failure_of([&] { (void)none.store.acquire("a"); });
  EXPECT_EQ(why, errc::denied) << text;
  EXPECT_NE(text.find("sentinel_password_file="), std::string::npos) << text;
  const auto [why_wrong, text_wrong] = failure_of([&] { (void)wrong.store.acquire("a"); });
  EXPECT_EQ(why_wrong, errc::denied) << text_wrong;
  EXPECT_NE(text_wrong.find("the password of the sentinels is wrong"), std::string::npos) << text_wrong;
  EXPECT_EQ(text_wrong.find("wr0ng"), std::string::npos) << text_wrong;
  EXPECT_EQ(wrong.store.url().find("wr0ng"), std::string::npos) << wrong.store.url();
  const lease held = right.store.acquire("a");
  EXPECT_TRUE(held.held());
  EXPECT_EQ(right.store.url().find("s3ntinel"), std::string::npos) << right.store.url();
}

TEST(redis_sentinel, needs_only_the_documented_permissions) {
  redis_group all;
  for (std::size_t n = 0; n < 3; ++n) {
    for (const char* line : {"redis-cli ACL SETUSER holdfast on", "redis-cli ACL SETUSER holdfast '+role'"}) {
      EXPECT_EQ(all.server(n).ask(test::acl_in_the_document(line)).text, "OK");
    }
    EXPECT_EQ(all.sentinel(n).ask(test::acl_in_the_document("redis-cli -p 26379 ACL SETUSER holdfast ")).text, "OK");
  }
  const std::string url =
      all.url("timeout=300ms&sentinel_user=holdfast&sentinel_password=a%20secret", "holdfast:a%20secret@");
  watched_client one(url, failover_patience), other(url, failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});
  auto waiting = other.wait_for("a");
  const std::size_t renewed = one.seen->events(event::kind::renewed).size();
  all.fail_over();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed + 1)) << "it is verified at the new primary";
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_EQ(failure_of([&] {
              (void)open(
                  all.url("sentinel_user=holdfast&sentinel_password=a%20secret&timeout=300ms", "holdfast:wrong@"),
                  {.patience = failover_patience})
                  .acquire("a");
            }).first,
            errc::denied);
  for (std::size_t n = 0; n < 3; ++n) {
    for (const redis::value& entry : all.sentinel(n).ask({"ACL", "LOG"}).items) {
      ADD_FAILURE() << "a sentinel has refused something: " << entry.items.at(5).text;
    }
  }
}

class redis_sentinel_with_users : public testing::Test {
 protected:
  redis_sentinel_with_users() {
    for (std::size_t n = 0; n < 3; ++n) {
      std::vector<std::string> line = test::acl_in_the_document("redis-cli -p 26379 ACL SETUSER holdfast ");
      std::erase(line, "&+selected-slave");
      EXPECT_EQ(all.sentinel(n).ask(line).text, "OK");
    }
  }
  redis_group all;
  const std::string url = all.url("timeout=300ms&sentinel_user=holdfast&sentinel_password=a%20secret");
};

TEST_F(redis_sentinel_with_users, warns_of_channels_that_the_user_may_not_subscribe_to) {
  watched_client one(url, failover_patience);
  EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
  ASSERT_TRUE(one.seen->comes(event::kind::warning, 3));
  for (const test::recorder::entry& each : one.seen->events(event::kind::warning)) {
    EXPECT_NE(each.text.find("NOPERM"), std::string::npos) << each.text;
  }
  const std::vector<finding> before = one.store.examine();
  EXPECT_TRUE(test::is(before, "redis.sentinel_channels", finding::severity::warning));
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(all.sentinel(n).ask({"ACL", "SETUSER", "holdfast", "&+selected-slave"}).text, "OK");
  }
  EXPECT_TRUE(test::is(one.store.examine(), "redis.sentinel_channels", finding::severity::fine));
  EXPECT_EQ(one.seen->events(event::kind::warning).size(), 3u) << "once for each sentinel";
}

TEST_F(redis_sentinel_with_users, follows_a_failover_by_polling_without_channels) {
  runtime::loop loop;
  const std::unique_ptr<redis::client> client = redis::client::open(url, loop);
  first_return is_back;
  client->start(is_back);
  loop.start();
  runtime::inline_io here;
  {
    const auto claim = client->open({.name = "a", .owner = {1, 2}, .ttl = 20s});
    EXPECT_TRUE(run_inline(claim->poll(here, within(test::hang))).is_yes()) << "over the pool only";
    EXPECT_FALSE(is_back.told.test());
    all.fail_over();
    test::get(is_back.promise.get_future());
  }
  client->close();
  loop.stop();
}

TEST(redis_sentinel, is_examined_together_with_its_server) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience);
  const std::vector<finding> good = one.store.examine();
  EXPECT_TRUE(test::is(good, "redis.sentinels", finding::severity::fine));
  EXPECT_TRUE(test::is(good, "redis.sentinel_views", finding::severity::fine));
  EXPECT_TRUE(test::is(good, "redis.rights", finding::severity::fine));
  all.sentinel(0).kill();
  const std::vector<finding> now = one.store.examine();
  EXPECT_TRUE(test::is(now, "redis.sentinel_silent", finding::severity::warning));
}

/// An old primary that was restarted takes writes until the sentinels demote it, which takes up to eleven seconds. Here
/// they are paused, so that it lasts as long as the test.
TEST(redis_sentinel, needs_a_fence_while_an_old_primary_is_not_demoted) {
  redis_group all(fails_over);
  const test::redis_server data;  // what is locked is elsewhere, and is never lost
  all.server(0).kill();
  ASSERT_TRUE(all.is_replaced(0));
  watched_client one(all.url(short_timeout), failover_patience);
  const lease held = one.store.acquire("account", {.ttl = 1h});
  for (std::size_t n = 0; n < 3; ++n) all.sentinel(n).stop();
  all.server(0).start();
  watched_client stale(all.server(0).url());  // it has an address in its URL, and no sentinels
  const lease also_held = stale.store.acquire("account", {.ttl = 1h});
  EXPECT_TRUE(held.held() && also_held.held()) << "the old primary lies";

  (void)data.ask({"SET", "balance", "10"});
  const auto plus_one = [](const std::string& n) { return std::to_string(std::stoi(n) + 1); };
  const std::string read = data.ask({"GET", "balance"}).text, also_read = data.ask({"GET", "balance"}).text;
  (void)data.ask({"SET", "balance", plus_one(also_read)});
  (void)data.ask({"SET", "balance", plus_one(read)});
  EXPECT_EQ(data.ask({"GET", "balance"}).text, "11") << "two have added one: an update is lost";

  const auto get = [&](const lease& by) {
    return data.ask({"EVAL", redis_fence_gate::get(), "2", "{safe}", "{safe}:fence", format_fence(by.fence())});
  };
  const auto set = [&](const lease& by, const std::string& to) {
    return data.ask({"EVAL", redis_fence_gate::set(), "2", "{safe}", "{safe}:fence", format_fence(by.fence()), to});
  };
  (void)data.ask({"SET", "{safe}", "10"});
  EXPECT_GT(also_held.fence(), held.fence()) << "the floor of time: it is later, and knows nothing of the other";
  const redis::value fenced_read = get(held), also_fenced_read = get(also_held);
  EXPECT_EQ(set(also_held, plus_one(also_fenced_read.items.at(1).text)).number, 1);
  EXPECT_EQ(set(held, plus_one(fenced_read.items.at(1).text)).number, 0) << "refused, and so it is not lost but known";
  EXPECT_EQ(data.ask({"GET", "{safe}"}).text, "11") << "one has added one";

  for (std::size_t n = 0; n < 3; ++n) all.sentinel(n).go_on();
  EXPECT_TRUE(test::eventually([&] { return all.is_replica(0); }));
  EXPECT_TRUE(held.held()) << "a client that asks the sentinels never used it";
}

}  // namespace
}  // namespace holdfast::faults
