// Between the choice of a new primary and its announcement by all sentinels: it is the primary already, the sentinel
// that has chosen it dies, others are outdated, or the failover fails.
#include <gtest/gtest.h>

#include "faults/failover.hpp"
#include "faults/redis_store.hpp"
#include "support/redis_group.hpp"

namespace holdfast::faults {
namespace {

using test::redis_group;

/// The last sentinel starts a failover.
bool begin_failover(redis_group& all) {
  return test::eventually(
      [&] { return all.sentinel(2).ask({"SENTINEL", "FAILOVER", redis_group::service}).text == "OK"; });
}

/// The state of its failover; empty if there is none.
std::string state_of_failover(redis_group& all) {
  const redis::value known = all.sentinel(2).ask({"SENTINEL", "MASTER", redis_group::service});
  for (std::size_t n = 0; n + 1 < known.items.size(); n += 2) {
    if (known.items[n].text == "failover-state") return known.items[n + 1].text;
  }
  return {};
}

/// Returns whether new locks are acquired at that server.
bool locks_at(redis_group& all, watched_client& who, std::size_t server) {
  const lease taken = who.store.acquire("a");
  return !all.server(server).keys("holdfast:{a}").empty();
}

/// The sentinel that carries out the failover dies when the new primary leads, before it announces it. The others
/// announce the old one, which is healthy, and finally demote the new one.
class redis_unannounced_promotion : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(locks_at(all, one, 0));
    ASSERT_EQ(all.sentinel(2).ask({"SENTINEL", "SIMULATE-FAILURE", "crash-after-promotion"}).text, "OK");
    ASSERT_TRUE(begin_failover(all));
  }
  redis_group all;
  watched_client one{all.url(short_timeout)};
};

TEST_F(redis_unannounced_promotion, is_followed_and_reverted_when_no_sentinel_confirms_it) {
  EXPECT_TRUE(test::eventually([&] { return !locks_at(all, one, 0); }));
  EXPECT_EQ(all.primary(), 0u) << "as the remaining sentinels say";
  EXPECT_TRUE(test::eventually([&] { return locks_at(all, one, 0); }));
}

TEST_F(redis_unannounced_promotion, is_reverted_at_once_when_the_new_primary_is_demoted) {
  ASSERT_TRUE(test::eventually([&] { return !locks_at(all, one, 0); }));
  const std::size_t now = all.is_replica(1) ? 2 : 1;
  (void)all.server(now).ask({"REPLICAOF", "127.0.0.1", std::to_string(all.port_of_server(0))});
  EXPECT_TRUE(locks_at(all, one, 0)) << "before its patience ends";
}

/// A sentinel that watches another server under the same name, and never replaced it.
TEST(redis_promotion, is_not_reverted_by_an_outdated_sentinel) {
  redis_group all;
  const std::string port = std::to_string(test::free_port());
  const test::redis_server old({"--bind", "127.0.0.1", "--port", port});
  const std::string its_port = std::to_string(test::free_port()), name = redis_group::service;
  const test::redis_server behind({"--sentinel", "--bind", "127.0.0.1", "--port", its_port},
                                  "sentinel monitor " + name + " 127.0.0.1 " + port + " 1\n");
  behind.stop();
  std::string url = all.url(short_timeout);
  url.insert(url.rfind('/'), ",127.0.0.1:" + its_port);
  watched_client one(url, failover_patience);
  ASSERT_TRUE(locks_at(all, one, 0));
  all.fail_over();
  const std::size_t now = all.primary();
  EXPECT_TRUE(test::eventually([&] { return locks_at(all, one, now); }));
  behind.go_on();
  for (std::size_t n = 0; n < 3; ++n) all.sentinel(n).kill();
  for (const char* type : {"normal", "pubsub"}) (void)all.server(now).ask({"CLIENT", "KILL", "TYPE", type});
  EXPECT_TRUE(locks_at(all, one, now)) << "though it has to connect again, and no other sentinel can be asked";
}

/// No replica obeys the command to become a primary.
class redis_refused_promotion : public testing::Test {
 protected:
  redis_refused_promotion() {
    for (const std::size_t replica : {1U, 2U}) (void)all.server(replica).ask({"ACL", "SETUSER", "default", "-slaveof"});
  }
  redis_group all;
  watched_client one{all.url(short_timeout), failover_patience};
};

TEST_F(redis_refused_promotion, leaves_clients_at_the_old_primary) {
  ASSERT_TRUE(locks_at(all, one, 0));
  ASSERT_TRUE(begin_failover(all));
  ASSERT_TRUE(test::eventually([&] { return state_of_failover(all) == "wait_promotion"; }));
  EXPECT_TRUE(locks_at(all, one, 0));
  EXPECT_TRUE(test::eventually([&] { return state_of_failover(all).empty(); })) << "the failover is aborted";
  EXPECT_TRUE(locks_at(all, one, 0));
}

TEST_F(redis_refused_promotion, does_not_delay_closing_a_store) {
  ASSERT_TRUE(locks_at(all, one, 0));
  ASSERT_TRUE(begin_failover(all));
  ASSERT_TRUE(test::eventually([&] { return state_of_failover(all) == "wait_promotion"; }));
  one.store.close();
  EXPECT_EQ(failure_of([&] { (void)one.store.acquire("a"); }).first, errc::closed);
}

}  // namespace
}  // namespace holdfast::faults
