#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using acquire = engine_test;

/// A process that died with the lock, which is not renewed.
class dead_holder {
 public:
  dead_holder(world& w, std::string name, milliseconds ttl)
      : party_(storage::claim_spec{.name = std::move(name), .owner = {1, 1}, .ttl = ttl}) {
    EXPECT_TRUE(w.server->acquire(party_, w.io.now()).ours);
  }

 private:
  memory::party party_;
};

TEST_F(acquire, gives_a_free_lock_at_once) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(client_.held(lease));
  EXPECT_GT(lease->fence(), 0u);
  EXPECT_EQ(lease->of()->deadline(), world_.io.now() + 10s - 102ms);
}

TEST_F(acquire, waits_for_a_holder_in_this_process) {
  const auto first = client_.take("a");
  std::future<outcome> second = client_.ask("a");
  EXPECT_FALSE(is_ready(second));
  EXPECT_EQ(client_.give(first).get(), released::yes);
  EXPECT_GT(client_.taken(second)->fence(), first->fence());
}

TEST_F(acquire, waits_for_a_holder_in_another_process) {
  client other(world_);
  const auto first = other.take("a");
  std::future<outcome> second = client_.ask("a");
  EXPECT_FALSE(is_ready(second));
  EXPECT_EQ(other.give(first).get(), released::yes);
  EXPECT_GT(client_.taken(second)->fence(), first->fence());
}

TEST_F(acquire, serves_local_callers_in_the_order_in_which_they_came) {
  auto lease = client_.take("a");
  std::vector<std::future<outcome>> waiting;
  for (int k = 0; k < 40; ++k) waiting.push_back(client_.ask("a", {.on = {.ttl = k % 3 == 0 ? 10s : 11s}}));
  for (auto& next : waiting) {
    EXPECT_FALSE(is_ready(next));
    (void)client_.give(lease);
    const auto then = client_.taken(next);
    EXPECT_GT(then->fence(), lease->fence());
    lease = then;
  }
}

TEST_F(acquire, takes_the_lock_of_a_dead_process_after_its_ttl) {
  const dead_holder dead(world_, "a", 10s);
  std::future<outcome> asked = client_.ask("a");
  world_.advance(10s - 1ns);
  EXPECT_FALSE(is_ready(asked));
  world_.advance(1ns);
  EXPECT_TRUE(client_.held(client_.taken(asked)));
}

TEST_F(acquire, is_busy_after_one_look_at_a_held_lock_and_leaves_no_trace) {
  client other(world_);
  const auto theirs = other.take("a");
  EXPECT_EQ(client_.look("a").what, kind::busy);
  EXPECT_EQ(other.look("a").what, kind::busy);
  EXPECT_EQ(client_.engine.queues(), 0u);
  (void)other.give(theirs);
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(acquire, is_granted_after_one_look_at_a_free_lock) { EXPECT_EQ(client_.look("a").what, kind::granted); }

TEST_F(acquire, is_busy_at_its_limit_and_not_before) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> at_the_store = client_.ask("a", {.within = 20s});
  std::future<outcome> in_line = client_.ask("a", {.within = 10s});
  world_.advance(10s - 1ns);
  EXPECT_FALSE(is_ready(in_line));
  world_.advance(1ns);
  EXPECT_EQ(client_.end_of(in_line).what, kind::busy);
  world_.advance(10s - 1ns);
  EXPECT_FALSE(is_ready(at_the_store));
  world_.advance(1ns);
  EXPECT_EQ(client_.end_of(at_the_store).what, kind::busy);
  (void)other.give(theirs);
  EXPECT_EQ(world_.server->size(), 0u) << "a caller that gave up left its place in the queue";
}

TEST_F(acquire, stops_at_once_when_asked_to) {
  client other(world_);
  const auto theirs = other.take("a");
  std::stop_source first, second;
  std::future<outcome> at_the_store = client_.ask("a", {.stop = first.get_token()});
  std::future<outcome> in_line = client_.ask("a", {.stop = second.get_token()});
  second.request_stop();
  world_.run();
  EXPECT_EQ(client_.end_of(in_line).what, kind::stopped);
  first.request_stop();
  world_.run();
  EXPECT_EQ(client_.end_of(at_the_store).what, kind::stopped);
  (void)other.give(theirs);
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(acquire, wakes_the_next_waiter_when_the_head_gives_up) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> first = client_.ask("a", {.within = 1s});
  std::future<outcome> second = client_.ask("a");
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(first).what, kind::busy);
  (void)other.give(theirs);
  EXPECT_TRUE(client_.held(client_.taken(second)));
}

TEST_F(acquire, is_granted_when_the_lock_arrives_in_the_instant_of_a_stop) {
  client other(world_);
  const auto theirs = other.take("a");
  std::stop_source stop;
  std::future<outcome> asked = client_.ask("a", {.stop = stop.get_token()});
  stop.request_stop();  // it is posted, and has not run yet
  world_.server->forget_everything();
  world_.run();
  EXPECT_EQ(client_.end_of(asked).what, kind::granted);
}

TEST_F(acquire, wakes_the_next_waiter_when_woken_in_the_instant_of_a_stop) {
  const auto lease = client_.take("a", {.on = {.ttl = 11s}});  // other terms: not handed over
  std::stop_source stop;
  std::future<outcome> first = client_.ask("a", {.stop = stop.get_token()}), second = client_.ask("a");
  client_.store.hold_back(call::release);
  std::future<released> given = client_.give(lease);
  client_.store.deliver();  // the release continues first
  stop.request_stop();      // and wakes a caller that was stopped and has not run yet
  world_.run();
  EXPECT_EQ(given.get(), released::yes);
  (void)client_.give(client_.taken(first));
  EXPECT_TRUE(client_.held(client_.taken(second)));
}

TEST_F(acquire, adopts_its_own_lock_when_the_reply_was_lost) {
  client_.store.cut(call::poll);
  std::future<outcome> asked = client_.ask("a");
  EXPECT_FALSE(is_ready(asked));
  EXPECT_EQ(world_.server->size(), 1u) << "the request was carried out";
  world_.advance(10ms);  // far less than the ttl
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_EQ(client_.store.count(call::poll), 2);
  (void)client_.give(lease);
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(acquire, does_not_take_a_yes_that_took_longer_than_its_ttl) {
  client_.store.hold_back_beyond_the_limit(call::poll);
  std::future<outcome> asked = client_.ask("a", {.on = {.ttl = 1s}});
  world_.advance(2s);
  client_.store.deliver();
  world_.run();
  EXPECT_FALSE(is_ready(asked)) << "another client may hold it by now";
  world_.advance(10ms);
  const auto lease = client_.taken(asked);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_GT(lease->of()->deadline(), world_.io.now());
}

TEST_F(acquire, counts_the_deadline_from_before_the_request) {
  client_.store.hold_back(call::poll);
  const instant sent = world_.io.now();
  std::future<outcome> asked = client_.ask("a");
  world_.advance(4s);
  client_.store.deliver();
  world_.run();
  EXPECT_EQ(client_.taken(asked)->of()->deadline(), sent + 10s - 102ms);
}

TEST_F(acquire, fails_when_the_store_is_silent_for_its_patience) {
  world_.lose_all_requests();
  std::future<outcome> asked = client_.ask("a");
  world_.advance(5s - 1ns);
  EXPECT_FALSE(is_ready(asked));
  world_.advance(1ns);
  const outcome end = client_.end_of(asked);
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->code, errc::unreachable);
}

TEST_F(acquire, fails_after_one_look_when_the_store_is_silent) {
  world_.lose_all_requests();
  std::future<outcome> asked = client_.ask("a", {.one_look = true});
  world_.advance(5s);
  EXPECT_EQ(client_.end_of(asked).what, kind::failed);
}

TEST_F(acquire, bounds_one_look_by_its_limit) {
  world_.lose_all_requests();
  std::future<outcome> asked = client_.ask("a", {.within = 20ms, .one_look = true, .bounded = true});
  world_.advance(20ms);
  EXPECT_EQ(client_.end_of(asked).what, kind::busy);
  std::future<outcome> over_before = client_.ask("a", {.within = 0s, .one_look = true});
  world_.advance(20ms);
  EXPECT_FALSE(is_ready(over_before)) << "it has the store's patience";
  world_.advance(5s);
  EXPECT_EQ(client_.end_of(over_before).what, kind::failed);
}

TEST_F(acquire, counts_patience_from_the_first_request_that_was_not_answered) {
  const dead_holder dead(world_, "a", 10s);
  std::future<outcome> asked = client_.ask("a");
  world_.lose_all_requests();
  world_.advance(15s - 1ns);  // the next request is sent when the holder's ttl has expired
  EXPECT_FALSE(is_ready(asked));
  world_.advance(1ns);
  EXPECT_EQ(client_.end_of(asked).what, kind::failed);
}

TEST_F(acquire, is_busy_when_its_limit_ends_before_an_answer) {
  world_.lose_all_requests();
  std::future<outcome> asked = client_.ask("a", {.within = 1s});
  world_.advance(1s);
  const outcome end = client_.end_of(asked);
  EXPECT_EQ(end.what, kind::busy);
  ASSERT_TRUE(end.why) << "the event says that there was no answer";
  EXPECT_EQ(end.why->code, errc::unreachable);
}

TEST_F(acquire, fails_at_its_limit_without_an_answer_if_one_is_needed) {
  world_.lose_all_requests();
  std::future<outcome> looks =
      client_.ask("a", {.within = 1s, .one_look = true, .bounded = true, .needs_answer = true});
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(looks).what, kind::failed);
  std::future<outcome> waits = client_.ask("a", {.within = 1s, .needs_answer = true});
  std::future<outcome> in_line = client_.ask("a", {.within = 1s, .needs_answer = true});
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(waits).what, kind::failed);
  EXPECT_EQ(client_.end_of(in_line).what, kind::failed);
}

TEST_F(acquire, fails_at_its_limit_when_no_call_was_answered_for_patience) {
  world_.lose_all_requests();
  for (int second = 1; second <= 6; ++second) {
    std::future<outcome> asked = client_.ask("a", {.within = 1s});
    world_.advance(1s);
    EXPECT_EQ(client_.end_of(asked).what, second < 5 ? kind::busy : kind::failed) << second;
  }
}

TEST_F(acquire, counts_silence_from_the_last_answer_to_any_call) {
  for (int second = 1; second <= 12; ++second) {
    world_.lose_all_requests();
    std::future<outcome> asked = client_.ask("a", {.within = 1s});
    world_.advance(1s);
    const bool is_silent = second % 6 == 5 || second % 6 == 0;
    EXPECT_EQ(client_.end_of(asked).what, is_silent ? kind::failed : kind::busy) << second;
    if (second % 6 != 0) continue;
    world_.heal();
    (void)client_.take("b" + std::to_string(second));
  }
}

TEST_F(acquire, counts_silence_for_a_caller_behind_another) {
  world_.lose_all_requests();
  std::future<outcome> first = client_.ask("a", {.within = 1s});
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(first).what, kind::busy);
  world_.advance(4s);
  std::future<outcome> asking = client_.ask("a", {.within = 1s});
  std::future<outcome> behind = client_.ask("a", {.within = 500ms});
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(asking).what, kind::failed);
  EXPECT_EQ(client_.end_of(behind).what, kind::failed);
}

TEST_F(acquire, fails_at_its_limit_when_the_store_said_why) {
  world_.server->set_faults({.refusal = storage::failure(errc::unreachable, "connection refused")});
  std::future<outcome> asked = client_.ask("a", {.within = 1s});
  world_.advance(1s);
  const outcome end = client_.end_of(asked);
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->text, "connection refused");
}

TEST_F(acquire, is_busy_when_its_limit_ends_just_after_a_no) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> asked = client_.ask("a", {.within = 10s + 5ms});
  world_.advance(10s - 1ns);
  client_.store.hold_back(call::poll);
  world_.advance(1ns);
  ASSERT_EQ(client_.store.held_back(), 1u) << "it polls again when the ttl of the holder has passed";
  world_.advance(5ms);
  EXPECT_EQ(client_.end_of(asked).what, kind::busy);
}

TEST_F(acquire, is_busy_when_its_limit_ends_in_a_silence_after_a_no) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> asked = client_.ask("a", {.within = 11s});
  world_.advance(10s - 1ns);
  client_.store.hold_back(call::poll);
  world_.advance(1s + 1ns);
  const outcome end = client_.end_of(asked);
  EXPECT_EQ(end.what, kind::busy);
  EXPECT_TRUE(end.why) << "it has been silent for longer than usual";
}

TEST_F(acquire, polls_a_store_that_is_not_ready_without_flooding_it) {
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  std::future<outcome> asked = client_.ask("a");
  world_.advance(4s);
  EXPECT_FALSE(is_ready(asked));
  EXPECT_GT(client_.store.count(call::poll), 5);
  EXPECT_LT(client_.store.count(call::poll), 100);
  world_.heal();
  world_.advance(500ms);
  EXPECT_TRUE(client_.held(client_.taken(asked)));
}

TEST_F(acquire, reports_the_last_store_error_after_a_busy_phase) {
  const dead_holder dead(world_, "a", 2s);
  world_.server->set_faults({.refusal = storage::failure(errc::not_ready, "loading")});
  std::future<outcome> asked = client_.ask("a", {.within = 4s});
  world_.advance(1s);
  world_.heal();
  world_.advance(500ms);
  world_.lose_all_requests();
  world_.advance(3s);
  const outcome end = client_.end_of(asked);
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->text, "loading");
}

TEST_F(acquire, fails_at_once_when_asking_again_cannot_help) {
  world_.server->set_faults({.refusal = storage::failure(errc::denied, "the server's words")});
  std::future<outcome> asked = client_.ask("a");
  const outcome end = client_.end_of(asked);
  ASSERT_EQ(end.what, kind::failed);
  EXPECT_EQ(end.why->code, errc::denied);
  EXPECT_EQ(end.why->text, "the server's words");
}

TEST_F(acquire, releases_an_unnoticed_grant_in_the_background) {
  world_.server->set_faults({.lose_replies = 1});
  std::future<outcome> asked = client_.ask("a", {.within = 1s});
  EXPECT_EQ(world_.server->size(), 1u) << "the request was carried out";
  world_.advance(500ms);
  world_.lose_all_requests();
  world_.advance(500ms);
  EXPECT_EQ(client_.end_of(asked).what, kind::busy) << "the caller does not wait for that";
  EXPECT_EQ(world_.server->size(), 1u);
  world_.heal();
  world_.advance(6s);  // less than the ttl
  EXPECT_EQ(world_.server->size(), 0u);
}

TEST_F(acquire, wakes_the_next_waiter_when_no_claim_can_be_made) {
  const auto lease = client_.take("a", {.on = {.ttl = 11s}});
  std::future<outcome> first = client_.ask("a"), second = client_.ask("a");
  client_.store.fail_next_open();
  (void)client_.give(lease);
  ASSERT_TRUE(is_ready(first));
  EXPECT_THROW(first.get(), std::bad_alloc);
  EXPECT_TRUE(client_.held(client_.taken(second)));
}

TEST_F(acquire, reports_its_events) {
  using what = event::kind;
  client other(world_);
  const auto theirs = other.take("a", {.on = {.ttl = 10s, .label = "theirs"}});
  std::future<outcome> asked = client_.ask("a", {.within = 3s});
  world_.advance(1s);
  (void)other.give(theirs);
  const auto lease = client_.taken(asked);
  EXPECT_EQ(client_.look("a").what, kind::busy);
  (void)client_.give(lease);
  world_.run();
  EXPECT_EQ(client_.seen->kinds(), (std::vector{what::waiting, what::acquired, what::released}));
  const auto events = client_.seen->events();
  EXPECT_EQ(events[0].name, "a");
  EXPECT_EQ(events[0].text, "theirs");
  EXPECT_EQ(events[1].fence, lease->fence());
  EXPECT_EQ(events[1].took, 1s);
  EXPECT_EQ(events[2].fence, lease->fence());
}

TEST_F(acquire, reports_why_a_caller_gave_up) {
  client other(world_);
  const auto theirs = other.take("a");
  std::future<outcome> asked = client_.ask("a", {.within = 3s});
  world_.advance(3s);
  EXPECT_EQ(client_.end_of(asked).what, kind::busy);
  ASSERT_EQ(client_.seen->events(event::kind::left).size(), 1u);
  EXPECT_EQ(client_.seen->events(event::kind::left)[0].took, 3s);
  EXPECT_FALSE(client_.seen->events(event::kind::left)[0].why);
  world_.lose_all_requests();
  std::future<outcome> failing = client_.ask("b", {.within = 1s});
  world_.advance(1s);
  EXPECT_EQ(client_.end_of(failing).what, kind::busy);
  ASSERT_EQ(client_.seen->events(event::kind::left).size(), 2u);
  EXPECT_EQ(client_.seen->events(event::kind::left)[1].why, errc::unreachable);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
