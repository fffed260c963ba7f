#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using release = engine_test;

TEST_F(release, frees_the_lock_and_leaves_nothing) {
  const auto lease = client_.take("a");
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_FALSE(client_.held(lease));
  EXPECT_EQ(world_.server->size(), 0u);
  EXPECT_EQ(client_.engine.holdings(), 0u);
  EXPECT_EQ(client_.engine.queues(), 0u);
}

TEST_F(release, does_not_stop_the_lost_token) {
  const auto lease = client_.take("a");
  const std::stop_token lost = lease->lost_token();
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  world_.advance(1min);
  EXPECT_FALSE(lost.stop_requested());
}

TEST_F(release, is_yes_when_it_was_done_before) {
  const auto lease = client_.take("a");
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  const auto next = client_.take("a");
  EXPECT_EQ(client_.give(lease).get(), released::yes);
  EXPECT_TRUE(client_.held(next)) << "it released the next lease";
}

TEST_F(release, is_lost_after_the_deadline) {
  const auto lease = client_.take("a", {.on = {.ttl = 1s, .renew = false}});
  world_.advance(1s);
  EXPECT_EQ(client_.give(lease).get(), released::lost);
  EXPECT_EQ(client_.give(lease).get(), released::lost);
}

TEST_F(release, is_lost_when_the_store_rejects_it) {
  const auto lease = client_.take("a");
  world_.server->forget_everything();
  EXPECT_EQ(client_.give(lease).get(), released::lost);
  ASSERT_EQ(client_.seen->events(event::kind::released).size(), 1u);
  EXPECT_EQ(client_.seen->events(event::kind::released)[0].why, errc::lost);
}

TEST_F(release, does_not_free_the_lock_of_the_next_holder_after_a_loss) {
  client other(world_);
  const auto lease = client_.take("a");
  world_.server->forget_everything();
  const auto theirs = other.take("a");
  EXPECT_EQ(client_.give(lease).get(), released::lost);
  EXPECT_TRUE(other.held(theirs));
  EXPECT_EQ(client_.look("a").what, kind::busy);
}

TEST_F(release, waits_for_a_renewal_that_is_under_way) {
  const auto lease = client_.take("a");
  client_.store.hold_back(call::renew);
  world_.advance(3'333ms);
  ASSERT_EQ(client_.store.held_back(), 1u);
  std::future<released> given = client_.give(lease);
  EXPECT_FALSE(is_ready(given));
  EXPECT_EQ(client_.store.count(call::release), 0);
  EXPECT_FALSE(client_.held(lease)) << "it has ended for its holder already";
  client_.store.deliver();
  world_.run();
  EXPECT_EQ(given.get(), released::yes);
  EXPECT_EQ(client_.store.calls(), (std::vector{call::poll, call::renew, call::release}));
  world_.advance(1min);
  EXPECT_EQ(client_.store.count(call::renew), 1);
}

TEST_F(release, is_unknown_and_done_later_if_a_renewal_outlasts_its_limit) {
  const auto lease = client_.take("a");
  client_.store.hold_back(call::renew);
  world_.advance(3'333ms);
  std::future<released> given = client_.give(lease, 1s);
  world_.advance(1s);
  EXPECT_EQ(given.get(), released::unknown);
  EXPECT_EQ(world_.server->size(), 1u);
  client_.store.deliver();
  world_.run();
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(release, is_unknown_and_done_later_when_the_store_is_silent) {
  const auto lease = client_.take("a");
  world_.lose_all_requests();
  std::future<released> given = client_.give(lease, 1s);
  world_.advance(1s - 1ns);
  EXPECT_FALSE(is_ready(given));
  world_.advance(1ns);
  EXPECT_EQ(given.get(), released::unknown);
  world_.heal();
  world_.advance(6s);  // less than the ttl
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(release, does_not_become_a_yes_by_being_repeated_after_an_unknown) {
  const auto lease = client_.take("a");
  client_.store.cut(call::release);
  EXPECT_EQ(client_.give(lease).get(), released::unknown);
  EXPECT_EQ(client_.give(lease).get(), released::unknown);
}

TEST_F(release, is_unknown_to_a_second_caller_while_the_first_waits) {
  const auto lease = client_.take("a");
  client_.store.hold_back(call::release);
  std::future<released> first = client_.give(lease), second = client_.give(lease);
  ASSERT_TRUE(is_ready(second));
  EXPECT_EQ(second.get(), released::unknown);
  client_.store.deliver();
  world_.run();
  EXPECT_EQ(first.get(), released::yes);
  EXPECT_EQ(client_.give(lease).get(), released::yes) << "by now it is known";
}

TEST_F(release, is_lost_to_a_second_caller_when_the_store_rejected_it) {
  const auto lease = client_.take("a");
  world_.server->forget_everything();
  EXPECT_EQ(client_.give(lease).get(), released::lost);
  EXPECT_EQ(client_.give(lease).get(), released::lost);
}

TEST_F(release, wakes_the_next_waiter_when_it_gets_no_answer) {
  const auto lease = client_.take("a", {.on = {.ttl = 11s}});
  std::future<outcome> next = client_.ask("a");
  client_.store.cut(call::release);
  EXPECT_EQ(client_.give(lease).get(), released::unknown);
  EXPECT_TRUE(client_.held(client_.taken(next)));
}

TEST_F(release, in_the_background_ends_after_a_ttl) {
  const auto lease = client_.take("a");
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  EXPECT_EQ(client_.give(lease).get(), released::unknown);
  world_.advance(9s);
  const int tries = client_.store.count(call::release);
  EXPECT_GT(tries, 5);
  EXPECT_LT(tries, 200);
  world_.advance(2s);
  const int all = client_.store.count(call::release);
  world_.advance(1min);
  EXPECT_EQ(client_.store.count(call::release), all);
  EXPECT_EQ(client_.engine.tasks().running(), 1) << "only the renewer";
}

TEST_F(release, of_a_lease_that_was_handed_over_has_no_effect) {
  const auto first = client_.take("a");
  std::future<outcome> asked = client_.ask("a");
  EXPECT_EQ(client_.give(first).get(), released::yes);
  const auto second = client_.taken(asked);
  EXPECT_EQ(client_.give(first).get(), released::yes);
  EXPECT_TRUE(client_.held(second));
  EXPECT_EQ(world_.server->size(), 1u);
}

TEST_F(release, of_a_lost_lease_leaves_the_next_one_alone) {
  const auto first = client_.take("a");
  std::future<outcome> asked = client_.ask("a");
  world_.server->forget_everything();
  world_.advance(3'333ms);
  const auto second = client_.taken(asked);
  EXPECT_EQ(client_.give(first).get(), released::lost);
  EXPECT_TRUE(client_.held(second));
  EXPECT_EQ(client_.look("a").what, kind::busy);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
