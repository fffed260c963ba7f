// A store that fails: the waiters of the local queue share the failure of the head.
#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using failing_store = engine_test;

storage::failure loading() { return {errc::not_ready, "loading"}; }

TEST_F(failing_store, is_reported_to_all_waiters_when_patience_ends) {
  world_.lose_all_requests();
  std::vector<std::future<outcome>> all;
  for (int k = 0; k < 10; ++k) all.push_back(client_.ask("a"));
  world_.advance(5s);
  for (auto& asked : all) {
    const outcome end = client_.end_of(asked);
    ASSERT_EQ(end.what, kind::failed);
    EXPECT_EQ(end.why->code, errc::unreachable);
  }
  EXPECT_EQ(client_.store.count(call::poll), 1) << "only the head polls";
}

TEST_F(failing_store, is_reported_to_a_waiter_at_its_limit) {
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> at_the_store = client_.ask("a");
  std::future<outcome> in_line = client_.ask("a", {.within = 1s});
  world_.advance(1s);
  const outcome end = client_.end_of(in_line);
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->code, errc::not_ready);
}

TEST_F(failing_store, is_busy_for_a_waiter_while_no_error_is_known) {
  world_.lose_all_requests();
  std::future<outcome> at_the_store = client_.ask("a");
  std::future<outcome> in_line = client_.ask("a", {.within = 1s});
  world_.advance(1s);
  const outcome end = client_.end_of(in_line);
  EXPECT_EQ(end.what, kind::busy);
  ASSERT_TRUE(end.why) << "no store has said that it is busy";
  EXPECT_EQ(end.why->code, errc::unreachable);
}

TEST_F(failing_store, is_busy_for_a_waiter_whose_limit_ends_as_the_next_one_asks) {
  const auto lease = client_.take("a", {.on = {.ttl = 11s}});  // other terms: not handed over
  std::future<outcome> next = client_.ask("a"), in_line = client_.ask("a", {.within = 1s});
  world_.advance(999ms);
  client_.store.hold_back(call::poll);
  (void)client_.give(lease);
  ASSERT_EQ(client_.store.held_back(), 1u) << "the next head polls";
  world_.advance(1ms);
  EXPECT_EQ(client_.end_of(in_line).what, kind::busy);
}

TEST_F(failing_store, fails_when_patience_ends_even_if_replies_were_slow) {
  client other(world_);
  const auto theirs = other.take("a");
  client_.store.hold_back(call::poll);
  std::future<outcome> asked = client_.ask("a");
  world_.advance(2s);
  client_.store.deliver();  // busy; the next reply may also be slow, but patience ends before
  world_.lose_all_requests();
  world_.advance(60s);
  EXPECT_EQ(client_.end_of(asked).what, kind::failed);
}

TEST_F(failing_store, is_busy_for_a_waiter_that_asks_just_before_its_limit) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> first = client_.ask("a", {.within = 999ms}), next = client_.ask("a", {.within = 1s});
  world_.advance(998ms);
  client_.store.hold_back(call::poll);
  world_.advance(1ms);
  EXPECT_EQ(client_.end_of(first).what, kind::busy);
  ASSERT_EQ(client_.store.held_back(), 1u) << "the next head polls";
  world_.advance(1ms);
  EXPECT_EQ(client_.end_of(next).what, kind::busy) << "the store has answered the heads before it";
}

TEST_F(failing_store, is_reported_by_a_single_look) {
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> at_the_store = client_.ask("a");
  const outcome end = client_.look("a");
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->code, errc::not_ready);
}

TEST_F(failing_store, of_one_name_does_not_affect_another) {
  client other(world_);
  const auto theirs = other.take("b");
  const auto mine = client_.take("c");
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> at_the_store = client_.ask("a");
  EXPECT_EQ(client_.look("c").what, kind::busy);
}

TEST_F(failing_store, recovers_when_the_store_answers_again) {
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> asked = client_.ask("a");
  world_.advance(100ms);
  world_.heal();
  world_.advance(1s);
  EXPECT_TRUE(client_.held(client_.taken(asked)));
  EXPECT_EQ(client_.look("a").what, kind::busy);
}

TEST_F(failing_store, recovers_when_the_store_answers_busy) {
  client other(world_);
  const auto theirs = other.take("a");
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> asked = client_.ask("a");
  world_.advance(100ms);
  world_.heal();
  world_.advance(1s);
  EXPECT_FALSE(is_ready(asked));
  EXPECT_EQ(client_.look("a").what, kind::busy);
}

TEST_F(failing_store, recovers_with_an_answer_to_the_next_caller) {
  world_.server->set_faults({.refusal = loading()});
  std::stop_source stop;
  std::future<outcome> first = client_.ask("a", {.stop = stop.get_token()});
  std::future<outcome> second = client_.ask("a");
  world_.heal();
  stop.request_stop();
  world_.run();
  EXPECT_EQ(client_.end_of(first).what, kind::stopped);
  EXPECT_TRUE(client_.held(client_.taken(second)));
  EXPECT_EQ(client_.look("a").what, kind::busy) << "it is held, and the store answers";
}

TEST_F(failing_store, does_not_stop_a_waiter_from_being_served) {
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> first = client_.ask("a", {.within = 1s});
  std::future<outcome> second = client_.ask("a");
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(first).what, kind::failed);
  world_.heal();
  world_.advance(1s);
  EXPECT_TRUE(client_.held(client_.taken(second)));
}

TEST_F(failing_store, ends_the_pause_of_a_caller_when_the_store_is_back) {
  world_.server->set_faults({.refusal = loading()});
  std::future<outcome> asked = client_.ask("a");
  world_.advance(2s);
  world_.heal();
  world_.run();
  ASSERT_FALSE(is_ready(asked)) << "it pauses";
  client_.store.come_back();
  world_.run();
  EXPECT_TRUE(client_.taken(asked));
}

}  // namespace
}  // namespace holdfast::core::engine_tests
