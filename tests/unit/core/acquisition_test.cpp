#include "core/acquisition.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using runtime::wake;
using polled = storage::answer<storage::grant>;

/// One acquire whose answers and clock are the test's. A pause is 10 ms, times the number of tries.
class acquisition_test : public testing::Test {
 protected:
  using step = acquisition::step;
  static constexpr span patience = 5s;

  acquisition begin(const limit& until, bool one_look = false, bool bounded = false, bool needs_answer = false,
                    bool store_answers = false) {
    request r("a", terms{.ttl = 10s}, until, one_look);
    r.bounded = bounded;
    r.needs_answer = needs_answer;
    return acquisition(r, patience, silence_, store_answers);
  }
  acquisition begin() { return begin(limit(runtime::never)); }

  /// A poll that is sent now and answered after some time.
  step answer(acquisition& a, polled got, span after = 1ms, bool stopped = false) {
    (void)a.on_send(now_);
    now_ += after;
    const step next = a.on_answer(got, now_, stopped);
    return next == step::unanswered ? a.on_unanswered(now_, 10ms * (a.tries() + 1)) : next;
  }
  step granted(acquisition& a, span valid = 10s, span after = 1ms) {
    return answer(a, polled::yes(storage::grant{7, 64, now_ + valid}), after);
  }
  step busy(acquisition& a, const std::string& holder = {}, span after = 1ms) {
    return answer(a, polled::no({.holder = holder}), after);
  }
  step unanswered(acquisition& a, span after = 1ms) {
    return answer(a, polled::unknown(storage::failure::late("no answer")), after);
  }
  step refused(acquisition& a, errc code, span after = 1ms) {
    return answer(a, polled::unknown(storage::failure(code, "refused")), after);
  }

  instant now_{1h};

 private:
  silence silence_;
};

TEST_F(acquisition_test, is_granted_by_a_yes) {
  acquisition a = begin();
  EXPECT_EQ(granted(a), step::granted);
  EXPECT_FALSE(a.silent());
}

TEST_F(acquisition_test, polls_again_after_a_yes_that_took_longer_than_its_ttl) {
  acquisition a = begin();
  EXPECT_EQ(granted(a, 1s, 1s), step::pause);
  EXPECT_EQ(a.failure().text, "the answer took longer than the ttl");
  EXPECT_TRUE(a.may_be_known());
}

TEST_F(acquisition_test, waits_for_a_holder_and_polls_when_it_is_woken) {
  acquisition a = begin();
  EXPECT_EQ(busy(a, "them"), step::wait);
  EXPECT_EQ(a.on_wakeup(wake::signalled), step::poll);
  EXPECT_EQ(granted(a), step::granted);
}

TEST_F(acquisition_test, is_busy_when_the_wait_for_a_holder_reaches_the_limit) {
  acquisition a = begin(limit(now_ + 1s));
  EXPECT_EQ(busy(a, "them"), step::wait);
  EXPECT_EQ(a.on_wakeup(wake::late), step::leave);
  EXPECT_EQ(a.end().what, outcome::kind::busy);
  EXPECT_EQ(a.end().holder, "them");
  EXPECT_TRUE(a.may_be_known()) << "the store has a place for it";
}

TEST_F(acquisition_test, leaves_nothing_behind_after_one_look_at_a_held_lock) {
  acquisition a = begin(limit(now_), true);
  EXPECT_EQ(busy(a), step::leave);
  EXPECT_EQ(a.end().what, outcome::kind::busy);
  EXPECT_FALSE(a.may_be_known());
}

TEST_F(acquisition_test, pauses_for_longer_after_each_poll_without_an_answer) {
  acquisition a = begin();
  for (const span expected : {10ms, 20ms, 30ms}) {
    EXPECT_EQ(unanswered(a), step::pause);
    EXPECT_EQ(a.pause_ends(), now_ + expected);
    now_ = a.pause_ends();
    EXPECT_EQ(a.on_pause(wake::late, now_), step::poll);
  }
  EXPECT_EQ(busy(a), step::wait);
  EXPECT_EQ(a.on_wakeup(wake::signalled), step::poll);
  EXPECT_EQ(unanswered(a), step::pause);
  EXPECT_EQ(a.pause_ends(), now_ + 10ms) << "an answer starts the pauses again";
}

TEST_F(acquisition_test, polls_at_once_when_its_pause_ends_early) {
  acquisition a = begin();
  EXPECT_EQ(unanswered(a), step::pause);
  EXPECT_EQ(a.on_pause(wake::signalled, now_), step::poll);
}

TEST_F(acquisition_test, bounds_replies_and_pauses_by_its_limit) {
  acquisition a = begin(limit(now_ + 5ms));
  EXPECT_EQ(a.on_send(now_), now_ + 5ms);
  EXPECT_EQ(unanswered(a), step::pause);
  EXPECT_EQ(a.pause_ends(), now_ + 4ms);
}

TEST_F(acquisition_test, fails_after_patience_counted_from_the_first_silent_poll) {
  acquisition a = begin();
  const instant began = now_;
  EXPECT_EQ(a.on_send(now_), began + patience);
  EXPECT_EQ(unanswered(a, 4s), step::pause);
  EXPECT_EQ(a.on_pause(wake::late, now_), step::poll);
  EXPECT_EQ(a.on_send(now_), began + patience);
  EXPECT_EQ(unanswered(a, 1s), step::leave);
  EXPECT_TRUE(a.out_of_patience());
  EXPECT_EQ(a.end().what, outcome::kind::failed);
  EXPECT_EQ(a.end().why->code, errc::unreachable);
  EXPECT_EQ(a.failure().code, errc::unreachable);
}

TEST_F(acquisition_test, fails_at_once_after_an_error_that_polling_cannot_fix) {
  acquisition a = begin();
  EXPECT_EQ(refused(a, errc::denied), step::leave);
  EXPECT_TRUE(a.out_of_patience());
  EXPECT_EQ(a.end().what, outcome::kind::failed);
  EXPECT_EQ(a.end().why->code, errc::denied);
}

TEST_F(acquisition_test, is_busy_at_its_limit_when_replies_are_only_late) {
  acquisition a = begin(limit(now_ + 1s));
  EXPECT_EQ(unanswered(a, 1s), step::leave);
  EXPECT_FALSE(a.out_of_patience());
  EXPECT_EQ(a.end().what, outcome::kind::busy);
  ASSERT_TRUE(a.end().why);
  EXPECT_EQ(a.end().why->code, errc::unreachable);
}

TEST_F(acquisition_test, fails_at_its_limit_when_an_answer_is_needed) {
  acquisition a = begin(limit(now_ + 1s), false, false, true);
  EXPECT_EQ(unanswered(a, 1s), step::leave);
  EXPECT_EQ(a.end().what, outcome::kind::failed);
}

TEST_F(acquisition_test, fails_at_its_limit_with_the_error_that_the_store_reported) {
  acquisition a = begin(limit(now_ + 1s));
  EXPECT_EQ(refused(a, errc::not_ready), step::pause);
  EXPECT_EQ(a.on_pause(wake::late, now_), step::poll);
  EXPECT_EQ(unanswered(a, 1s), step::leave) << "the limit has cut this try short";
  EXPECT_EQ(a.end().what, outcome::kind::failed);
  EXPECT_EQ(a.end().why->code, errc::not_ready);
}

TEST_F(acquisition_test, is_busy_when_its_limit_ends_just_after_an_answer) {
  acquisition a = begin(limit(now_ + 15ms));
  EXPECT_EQ(busy(a, "them"), step::wait);
  EXPECT_EQ(a.on_wakeup(wake::signalled), step::poll);
  EXPECT_EQ(unanswered(a, 14ms), step::leave);
  EXPECT_EQ(a.end().what, outcome::kind::busy);
  EXPECT_EQ(a.end().holder, "them");
  EXPECT_FALSE(a.end().why);
}

TEST_F(acquisition_test, allows_a_slow_store_four_times_its_last_reply_time) {
  for (const span silent : {399ms, 400ms}) {
    acquisition a = begin(limit(now_ + 100ms + silent));
    EXPECT_EQ(busy(a, {}, 100ms), step::wait);
    EXPECT_EQ(a.on_wakeup(wake::signalled), step::poll);
    EXPECT_EQ(unanswered(a, silent), step::leave);
    EXPECT_EQ(a.end().why.has_value(), silent == 400ms);
  }
}

TEST_F(acquisition_test, counts_answers_to_callers_before_it_in_the_queue) {
  acquisition a = begin(limit(now_ + 5ms), false, false, false, true);
  EXPECT_EQ(unanswered(a, 5ms), step::leave);
  EXPECT_FALSE(a.end().why) << "the store has just answered another caller";
}

TEST_F(acquisition_test, lasts_with_one_look_until_there_is_an_answer) {
  acquisition a = begin(limit(now_), true);
  EXPECT_EQ(a.on_send(now_), now_ + patience);
  EXPECT_EQ(unanswered(a), step::pause);
  EXPECT_EQ(a.on_pause(wake::late, now_), step::poll);
  EXPECT_EQ(granted(a), step::granted);
}

TEST_F(acquisition_test, leaves_after_one_bounded_look_or_a_refusal) {
  acquisition bounded = begin(limit(now_ + 1s), true, true);
  EXPECT_EQ(unanswered(bounded), step::leave);
  acquisition unbounded = begin(limit(now_), true);
  EXPECT_EQ(refused(unbounded, errc::not_ready), step::leave);
  EXPECT_EQ(unbounded.end().what, outcome::kind::failed);
}

TEST_F(acquisition_test, stops_in_each_of_its_steps) {
  acquisition polls = begin(), waits = begin(), pauses = begin();
  EXPECT_EQ(answer(polls, polled::unknown(storage::failure::late("cut")), 1ms, true), step::leave);
  EXPECT_EQ(busy(waits), step::wait);
  EXPECT_EQ(waits.on_wakeup(wake::stopped), step::leave);
  EXPECT_EQ(unanswered(pauses), step::pause);
  EXPECT_EQ(pauses.on_pause(wake::stopped, now_), step::leave);
  for (acquisition* a : {&polls, &waits, &pauses}) {
    EXPECT_EQ(a->end().what, outcome::kind::stopped);
    EXPECT_TRUE(a->may_be_known());
  }
}

TEST_F(acquisition_test, takes_an_answer_that_comes_with_a_stop) {
  acquisition a = begin();
  EXPECT_EQ(answer(a, polled::yes(storage::grant{7, 64, now_ + 10s}), 1ms, true), step::granted);
}

TEST_F(acquisition_test, ends_its_silence_with_any_answer) {
  acquisition a = begin();
  EXPECT_EQ(unanswered(a), step::pause);
  EXPECT_TRUE(a.silent());
  EXPECT_EQ(busy(a), step::wait);
  EXPECT_FALSE(a.silent());
}

TEST_F(acquisition_test, fails_with_the_error_of_a_wait) {
  acquisition a = begin();
  EXPECT_EQ(busy(a), step::wait);
  EXPECT_EQ(a.on_error(storage::failure(errc::not_ready, "no memory")), step::leave);
  EXPECT_EQ(a.end().why->text, "no memory");
}

}  // namespace
}  // namespace holdfast::core
