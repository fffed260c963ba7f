#include <gtest/gtest.h>

#include <algorithm>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using renewing = engine_test;
using event_kind = event::kind;

TEST_F(renewing, renews_a_lease_at_a_third_of_its_ttl) {
  const auto lease = client_.take("a");
  const instant taken = world_.io.now();
  world_.advance(3'333ms - 1ns);
  EXPECT_EQ(client_.store.count(call::renew), 0);
  world_.advance(1ns);
  EXPECT_EQ(client_.store.count(call::renew), 1);
  EXPECT_EQ(lease->of()->deadline(), taken + 3'333ms + 10s - 102ms);
}

TEST_F(renewing, keeps_a_lease_until_it_is_released) {
  client other(world_);
  const auto lease = client_.take("a");
  std::future<outcome> theirs = other.ask("a");
  world_.advance(10min);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_FALSE(is_ready(theirs));
  EXPECT_EQ(client_.store.count(call::renew), 180);
}

TEST_F(renewing, renews_many_leases_each_at_its_own_time) {
  std::vector<std::shared_ptr<lease_state>> leases;
  for (int k = 0; k < 200; ++k) {
    leases.push_back(client_.take("a" + std::to_string(k), {.on = {.ttl = 1s + k * 50ms}}));
    world_.advance(7ms);
  }
  EXPECT_EQ(client_.engine.holdings(), 200u);
  world_.advance(2min);
  for (const auto& lease : leases) EXPECT_TRUE(client_.held(lease));
  for (const auto& lease : leases) EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_EQ(client_.engine.holdings(), 0u);
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(renewing, extends_a_short_grant_soon_unless_it_is_released) {
  client_.store.grant_for(500ms);
  const auto brief = client_.take("a");
  world_.advance(9ms);
  EXPECT_EQ(client_.give(brief).get(), released::yes);
  EXPECT_EQ(client_.store.count(call::renew), 0);
  const auto longer = client_.take("b");
  const instant taken = world_.io.now();
  world_.advance(10ms);
  EXPECT_EQ(client_.store.count(call::renew), 1);
  EXPECT_GT(longer->of()->deadline(), taken + 9s);
}

TEST_F(renewing, renews_together_what_is_due_almost_at_the_same_time) {
  std::vector<std::shared_ptr<lease_state>> leases;
  for (int k = 0; k < 3; ++k) {
    leases.push_back(client_.take("a" + std::to_string(k)));
    world_.advance(10ms);
  }
  world_.advance(3'333ms - 30ms);
  EXPECT_EQ(client_.store.count(call::renew), 3);
}

TEST_F(renewing, does_not_renew_what_was_released) {
  const auto lease = client_.take("a");
  (void)client_.give(lease);
  EXPECT_EQ(client_.engine.holdings(), 0u);
  world_.advance(1min);
  EXPECT_EQ(client_.store.count(call::renew), 0);
}

TEST_F(renewing, repeats_a_renewal_that_gets_no_answer) {
  const auto lease = client_.take("a");
  world_.lose_all_requests();
  world_.advance(9s);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_FALSE(client_.seen->events(event_kind::suspect).empty());
  world_.heal();
  world_.advance(1min);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_TRUE(client_.seen->events(event_kind::lost).empty());
}

TEST_F(renewing, loses_a_lease_exactly_at_its_deadline_in_a_silence) {
  const auto lease = client_.take("a");
  const std::stop_token lost = lease->lost_token();
  const instant deadline = lease->of()->deadline();
  world_.lose_all_requests();
  world_.advance(deadline - world_.io.now() - 1ns);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_FALSE(lost.stop_requested());
  world_.advance(1ns);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_TRUE(lost.stop_requested());
  ASSERT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
  const auto event = client_.seen->events(event_kind::lost)[0];
  EXPECT_EQ(event.fence, lease->fence());
  EXPECT_EQ(event.took, 10s - 102ms);
  EXPECT_EQ(event.why, errc::unreachable);
}

TEST_F(renewing, loses_a_lease_when_the_store_rejects_its_renewal) {
  const auto lease = client_.take("a");
  const std::stop_token lost = lease->lost_token();
  world_.server->forget_everything();
  world_.advance(3'333ms);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_TRUE(lost.stop_requested());
  ASSERT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
  EXPECT_EQ(client_.seen->events(event_kind::lost)[0].why, errc::lost);
  EXPECT_EQ(client_.give(lease).get(), released::lost);
}

TEST_F(renewing, wakes_the_next_waiter_after_a_loss) {
  const auto lease = client_.take("a");
  std::future<outcome> next = client_.ask("a");
  world_.server->forget_everything();
  world_.advance(3'333ms);
  EXPECT_GT(client_.taken(next)->fence(), lease->fence());
}

TEST_F(renewing, watches_the_deadline_while_a_renewal_is_in_flight) {
  const auto lease = client_.take("a");
  const instant deadline = lease->of()->deadline();
  client_.store.hold_back_beyond_the_limit(call::renew);
  world_.advance(deadline - world_.io.now());
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
}

TEST_F(renewing, does_not_revive_a_lease_by_a_late_renewal) {
  const auto lease = client_.take("a");
  client_.store.hold_back_beyond_the_limit(call::renew);
  world_.advance(11s);
  client_.store.deliver();
  world_.run();
  EXPECT_FALSE(client_.held(lease));
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
  EXPECT_EQ(world_.server->size(), 0u) << "what the store still thought to be ours was not released";
}

TEST_F(renewing, does_not_revive_a_lease_that_its_holder_saw_over) {
  const auto lease = client_.take("a");
  client_.store.hold_back_beyond_the_limit(call::renew);
  world_.advance(9s);
  EXPECT_FALSE(lease->held(lease->of()->deadline())) << "a thread that reads the clock later than the loop";
  client_.store.deliver();
  world_.run();
  EXPECT_FALSE(client_.held(lease));
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
}

TEST_F(renewing, is_not_delayed_by_a_name_without_an_answer) {
  const auto silent = client_.take("silent"), other = client_.take("other");
  client_.store.hold_back(call::renew, "silent");
  world_.advance(1min);
  EXPECT_FALSE(client_.held(silent));
  EXPECT_TRUE(client_.held(other));
}

TEST_F(renewing, does_not_renew_a_fixed_lease_and_loses_it_at_its_deadline) {
  const auto lease = client_.take("a", {.on = {.ttl = 10s, .renew = false}});
  const std::stop_token lost = lease->lost_token();
  world_.advance(10s - 102ms - 1ns);
  EXPECT_TRUE(client_.held(lease));
  world_.advance(1ns);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_EQ(client_.store.count(call::renew), 0);
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(renewing, renews_until_max_hold_and_no_longer) {
  const auto lease = client_.take("a", {.on = {.ttl = 1s, .max_hold = 3'500ms}});
  const instant must_end = world_.io.now() + 3'500ms;
  while (world_.io.now() < must_end - 100ms) {
    EXPECT_TRUE(client_.held(lease));
    EXPECT_LE(lease->of()->deadline(), must_end);
    world_.advance(10ms);
  }
  EXPECT_TRUE(client_.held(lease)) << "it ended more than 100 ms early";
  world_.advance(100ms);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1u);
  EXPECT_EQ(world_.server->size(), 0u);
}

task<void> lock_and_unlock(engine& e, io& i) {
  request wanted("a", terms{.ttl = 10s}, limit(runtime::never), false);
  const outcome got = co_await e.acquire(i, std::move(wanted));
  const limit until(runtime::never);
  const released end = co_await e.release(i, got.lease, until);
  EXPECT_EQ(end, released::yes);
}

TEST_F(renewing, is_woken_once_by_many_uncontended_locks) {
  constexpr int many = 100;
  runtime::task_group callers(world_.io);
  const std::uint64_t before = world_.io.posts();
  for (int k = 0; k < many; ++k) {
    callers.spawn(lock_and_unlock(client_.engine, world_.io));  // over before the renewer can run,
    world_.advance(20ms);                                       // which can fall asleep again
  }
  EXPECT_EQ(callers.running(), 0);
  EXPECT_LE(world_.io.posts() - before, many + 1u) << "more than the callers themselves, and one for the renewer";
}

TEST_F(renewing, renews_a_lease_that_was_taken_after_an_idle_sleep) {
  runtime::task_group callers(world_.io);
  callers.spawn(lock_and_unlock(client_.engine, world_.io));
  world_.advance(1s);
  const auto longer = client_.take("b"), shorter = client_.take("c", {.on = {.ttl = 1s}});
  world_.advance(1min);
  EXPECT_TRUE(client_.held(longer));
  EXPECT_TRUE(client_.held(shorter));
}

TEST_F(renewing, sends_no_renewal_that_max_hold_leaves_no_time_for) {
  for (const milliseconds max_hold : {1'000ms, 1'001ms, 1'340ms, 1'345ms, 3'500ms}) {
    const auto lease = client_.take("a", {.on = {.ttl = 1s, .max_hold = max_hold}});
    client_.store.cut(call::renew, 3);
    world_.advance(max_hold + 1s);
    EXPECT_FALSE(client_.held(lease));
  }
  for (const milliseconds ttl : client_.store.renewed_for()) EXPECT_GE(ttl, 10ms);
}

TEST_F(renewing, pauses_between_failed_renewals_of_a_short_ttl) {
  const auto lease = client_.take("a", {.on = {.ttl = 10ms}});
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  world_.advance(10ms);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_LT(client_.store.count(call::renew), 100);
}

/// Acquires `count` leases, and loses all requests after that.
std::vector<std::shared_ptr<lease_state>> many_of_a_silent_store(world& w, client& c, int count) {
  std::vector<std::shared_ptr<lease_state>> leases;
  for (int k = 0; k < count; ++k) {
    leases.push_back(c.take("a" + std::to_string(k)));
    w.advance(1ms);
  }
  w.lose_all_requests();
  return leases;
}

TEST_F(renewing, limits_renewals_in_flight_and_sends_urgent_ones_first) {
  const auto leases = many_of_a_silent_store(world_, client_, 1'500);
  world_.heal();
  const auto urgent = client_.take("urgent", {.on = {.ttl = 2s}});
  world_.lose_all_requests();
  client_.engine.verify(storage::no_shard);
  world_.run();
  EXPECT_EQ(client_.store.count(call::renew), 1'024);
  EXPECT_EQ(client_.store.renewed_for().front(), 2s);
  world_.heal();
  world_.advance(1min);
  for (const auto& lease : leases) EXPECT_TRUE(client_.held(lease));
  EXPECT_TRUE(client_.held(urgent));
}

TEST_F(renewing, loses_leases_whose_renewal_has_not_begun) {
  const auto leases = many_of_a_silent_store(world_, client_, 1'500);
  client_.engine.verify(storage::no_shard);
  world_.run();
  const instant last = leases.back()->of()->deadline();
  world_.advance(last - world_.io.now() - 1ns);
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1'499u);
  world_.advance(1ns);
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), 1'500u);
}

/// Names that begin with "dead" lie on a shard of their own.
storage::shard by_name(const std::string& name) { return name.starts_with("dead") ? 1 : 2; }

class renewing_on_shards : public engine_test {
 protected:
  renewing_on_shards() { client_.store.spread(by_name); }
  std::vector<std::shared_ptr<lease_state>> take_many(const std::string& like, int count) {
    std::vector<std::shared_ptr<lease_state>> leases;
    for (int k = 0; k < count; ++k) leases.push_back(client_.take(like + std::to_string(k)));
    return leases;
  }
};

TEST_F(renewing_on_shards, renews_one_shard_while_another_is_silent) {
  const auto dead = take_many("dead", 2'000);
  const auto alive = take_many("alive", 5'000);
  client_.store.hold_back(call::renew, storage::shard{1});
  world_.advance(3'333ms);
  EXPECT_EQ(client_.store.count(call::renew), 5'000 + 1'024) << "at that very instant";
  world_.advance(1min);
  EXPECT_EQ(client_.seen->events(event_kind::lost).size(), dead.size());
  for (const auto& lease : alive) EXPECT_TRUE(client_.held(lease));
}

TEST_F(renewing_on_shards, renews_a_lease_on_its_current_shard) {
  const auto moved = take_many("moved", 1'500);
  client_.store.spread([](const std::string& name) { return by_name(name) + 1; });
  client_.store.hold_back(call::renew, storage::shard{3});
  world_.advance(3'333ms);
  EXPECT_EQ(client_.store.count(call::renew), 1'024);
  EXPECT_EQ(client_.store.held_back(), 1'024u);
}

TEST_F(renewing_on_shards, verifies_only_leases_of_the_shard_in_doubt) {
  client_.store.spread([](const std::string& name) { return name == "both" ? storage::no_shard : by_name(name); });
  const auto dead = client_.take("dead"), alive = client_.take("alive", {.on = {.ttl = 11s}});
  const auto both = client_.take("both", {.on = {.ttl = 12s}});
  client_.engine.verify(1);
  world_.run();
  std::vector<milliseconds> asked_for = client_.store.renewed_for();
  std::sort(asked_for.begin(), asked_for.end());
  EXPECT_EQ(asked_for, (std::vector<milliseconds>{10s, 12s}));
  client_.engine.verify(storage::no_shard);
  world_.run();
  EXPECT_EQ(client_.store.count(call::renew), 5);
}

TEST_F(renewing, begins_no_renewal_after_the_end) {
  const auto leases = many_of_a_silent_store(world_, client_, 1'500);
  client_.engine.verify(storage::no_shard);
  world_.run();
  client_.engine.end();
  world_.run();
  EXPECT_EQ(client_.store.count(call::renew), 1'024);
}

TEST_F(renewing, ends_at_once_even_while_the_store_is_silent) {
  const auto lease = client_.take("a");
  world_.lose_all_requests();
  world_.advance(4s);
  client_.engine.end();
  world_.run();
  EXPECT_EQ(client_.engine.tasks().running(), 0);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
