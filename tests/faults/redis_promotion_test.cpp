// What happens between the choice of a new primary and its name in the mouth of all sentinels: it leads already, the
// one that has chosen it dies, others are behind, or it comes to nothing.
#include <gtest/gtest.h>

#include "faults/failover.hpp"
#include "faults/redis_store.hpp"
#include "support/redis_group.hpp"

namespace holdfast::faults {
namespace {

using test::redis_group;

/// The last sentinel begins to change the primary.
bool begin_failover(redis_group& all) {
  return test::eventually(
      [&] { return all.sentinel(2).ask({"SENTINEL", "FAILOVER", redis_group::service}).text == "OK"; });
}

/// How far it is; empty: it does not change it.
std::string state_of_failover(redis_group& all) {
  const redis::value known = all.sentinel(2).ask({"SENTINEL", "MASTER", redis_group::service});
  for (std::size_t n = 0; n + 1 < known.items.size(); n += 2) {
    if (known.items[n].text == "failover-state") return known.items[n + 1].text;
  }
  return {};
}

/// A lock is taken there now.
bool locks_at(redis_group& all, watched_client& who, std::size_t server) {
  const lease taken = who.store.acquire("a");
  return !all.server(server).keys("holdfast:{a}").empty();
}

/// The sentinel that changes the primary dies when it sees that the new one leads, before it tells anybody. So the
/// others name the old one, which is well, and in the end they make a replica of the new one.
class redis_promotion_that_is_never_told : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(locks_at(all, one, 0));
    ASSERT_EQ(all.sentinel(2).ask({"SENTINEL", "SIMULATE-FAILURE", "crash-after-promotion"}).text, "OK");
    ASSERT_TRUE(begin_failover(all));
  }
  redis_group all;
  watched_client one{all.url(short_timeout)};
};

TEST_F(redis_promotion_that_is_never_told, is_followed_all_the_same_and_undone_when_no_sentinel_names_the_new_primary) {
  EXPECT_TRUE(test::eventually([&] { return !locks_at(all, one, 0); }));
  EXPECT_EQ(all.primary(), 0u) << "as those say that are left";
  EXPECT_TRUE(test::eventually([&] { return locks_at(all, one, 0); }));
}

TEST_F(redis_promotion_that_is_never_told, is_undone_at_once_when_the_new_primary_turns_replica) {
  ASSERT_TRUE(test::eventually([&] { return !locks_at(all, one, 0); }));
  const std::size_t now = all.is_replica(1) ? 2 : 1;
  (void)all.server(now).ask({"REPLICAOF", "127.0.0.1", std::to_string(all.port_of_server(0))});
  EXPECT_TRUE(locks_at(all, one, 0)) << "before its patience ends";
}

/// It watches over another server, under the same name, and has never changed it.
TEST(redis_promotion, is_not_undone_by_a_sentinel_that_is_behind_and_the_only_one_left) {
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
  EXPECT_TRUE(locks_at(all, one, now)) << "though it has to connect anew, and nobody else can be asked";
}

/// No replica does as it is told.
class redis_promotion_that_is_refused : public testing::Test {
 protected:
  redis_promotion_that_is_refused() {
    for (const std::size_t replica : {1U, 2U}) (void)all.server(replica).ask({"ACL", "SETUSER", "default", "-slaveof"});
  }
  redis_group all;
  watched_client one{all.url(short_timeout), failover_patience};
};

TEST_F(redis_promotion_that_is_refused, leaves_everybody_where_they_are) {
  ASSERT_TRUE(locks_at(all, one, 0));
  ASSERT_TRUE(begin_failover(all));
  ASSERT_TRUE(test::eventually([&] { return state_of_failover(all) == "wait_promotion"; }));
  EXPECT_TRUE(locks_at(all, one, 0));
  EXPECT_TRUE(test::eventually([&] { return state_of_failover(all).empty(); })) << "it is given up";
  EXPECT_TRUE(locks_at(all, one, 0));
}

TEST_F(redis_promotion_that_is_refused, does_not_keep_a_store_from_closing) {
  ASSERT_TRUE(locks_at(all, one, 0));
  ASSERT_TRUE(begin_failover(all));
  ASSERT_TRUE(test::eventually([&] { return state_of_failover(all) == "wait_promotion"; }));
  one.store.close();
  EXPECT_EQ(failure_of([&] { (void)one.store.acquire("a"); }).first, errc::closed);
}

}  // namespace
}  // namespace holdfast::faults
