// The locks that a failover keeps and loses depend on how many replicas have them, on whether the old primary can
// continue without replicas, and on the clocks of both primaries.
#include <gtest/gtest.h>

#include "faults/failover.hpp"
#include "faults/redis_store.hpp"
#include "support/redis_group.hpp"
#include "support/stepped_clock.hpp"

namespace holdfast::faults {
namespace {

using test::redis_group;

/// The sentinel that changes the primary knows that a replica is gone.
bool misses_one(redis_group& all) {
  for (const redis::value& replica : all.sentinel(2).ask({"SENTINEL", "REPLICAS", redis_group::service}).items) {
    for (const redis::value& word : replica.items) {
      if (word.text.find("disconnected") != std::string::npos) return true;
    }
  }
  return false;
}

TEST(redis_failover, keeps_a_lock_acknowledged_by_all_replicas) {
  redis_group all({.down_after = 1500ms});
  watched_client one(all.url("timeout=5s&wait_replicas=all&wait_timeout=4s"), failover_patience);
  watched_client other(all.url(short_timeout), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 60s});
  all.server(0).kill();  // at once
  EXPECT_TRUE(all.is_replaced(0));
  EXPECT_FALSE(other.store.try_acquire("a"));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

TEST(redis_failover, reports_loss_and_raises_the_fence_on_unacked_replica) {
  redis_group all;
  watched_client one(all.url("timeout=5s&wait_replicas=1&wait_timeout=4s"), failover_patience);
  watched_client other(all.url(short_timeout), failover_patience);
  all.cut_off(2);
  const lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  all.server(1).kill();  // the only replica that has the lock
  ASSERT_TRUE(test::eventually([&] { return misses_one(all); }));
  all.fail_over();
  ASSERT_EQ(all.primary(), 2u);
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_TRUE(happens(lost)) << "long before the ttl";
}

TEST(redis_failover, ends_leases_on_an_isolated_primary_that_needs_replicas) {
  redis_group all({.sentinels = 0});
  (void)all.server(0).ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  watched_client one(all.server(0).url(short_timeout), 2s);
  lease held = one.store.acquire("a", {.ttl = 3s});
  const std::stop_token lost = held.lost_token();
  for (const std::size_t replica : {1U, 2U}) all.server(replica).kill();  // as it looks from there
  EXPECT_TRUE(happens(lost)) << "it is no longer renewed";
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("b"); });
  EXPECT_EQ(why, errc::not_ready) << text;
}

TEST(redis_failover, reports_loss_when_primary_returns_empty) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience), other(all.url(short_timeout), failover_patience);
  const lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}"); }));
  all.server(0).kill();
  all.server(0).start();  // its replicas follow, and forget
  EXPECT_TRUE(happens(lost)) << "long before the ttl";
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
}

TEST(redis_failover, gives_a_reader_a_higher_fence_after_a_lost_release) {
  redis_group all({.replicas = 1, .sentinels = 0});
  watched_client before(all.server(0).url()), after(all.server(1).url());
  shared_mutex reader(before.store, "a", {.ttl = 5s}), next(after.store, "a");
  reader.lock_shared();
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}") && all.have_all("holdfast:{a}:h"); }));
  all.cut_off(1);
  reader.unlock_shared();
  const lease writer = before.store.acquire("a");
  (void)all.server(1).ask({"REPLICAOF", "NO", "ONE"});
  ASSERT_TRUE(next.try_lock_shared_for(test::hang)) << "the lease of the former reader must expire there first";
  EXPECT_GT(next.current().fence(), writer.fence());
  next.unlock_shared();
}

TEST(redis_failover, lets_a_reader_join_surviving_readers) {
  redis_group all;
  watched_client one(all.url(short_timeout), failover_patience), other(all.url(short_timeout), failover_patience);
  shared_mutex kept(one.store, "a", {.ttl = 1h}), joins(other.store, "a");
  kept.lock_shared();
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}") && all.have_all("holdfast:{a}:h"); }));
  all.fail_over();
  ASSERT_TRUE(joins.try_lock_shared_for(test::hang)) << "long before their ttl";
  EXPECT_EQ(joins.current().fence(), kept.current().fence());
  joins.unlock_shared();
  kept.unlock_shared();
}

/// The clock of the first primary is an hour ahead of all others.
class redis_failover_to_a_slow_clock : public testing::Test {
 protected:
  redis_failover_to_a_slow_clock() { clock.set_ahead(1h); }
  const test::stepped_clock clock;
  redis_group all{{.first_environment = clock.environment()}};
  watched_client one{all.url(short_timeout), failover_patience}, other{all.url(short_timeout), failover_patience};
};

TEST_F(redis_failover_to_a_slow_clock, raises_fences_if_the_last_one_was_replicated) {
  lease held = one.store.acquire("a", {.ttl = 60s});
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}") && all.have_all("holdfast:{a}:f"); }));
  auto waiting = other.wait_for("a", {.ttl = 60s});
  ASSERT_TRUE(test::eventually([&] { return all.have_all("holdfast:{a}:q"); }));
  all.fail_over();
  EXPECT_EQ(held.release(), released::yes);
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
}

TEST_F(redis_failover_to_a_slow_clock, lowers_fences_if_the_last_one_was_not_replicated) {
  all.cut_off(1);
  all.cut_off(2);
  const lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  all.fail_over();
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_LT(next->fence(), held.fence()) << "what is not promised: the clocks are apart by more than the failover took";
  EXPECT_TRUE(happens(lost)) << "only the reported loss protects here";
}

}  // namespace
}  // namespace holdfast::faults
