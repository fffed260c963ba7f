#include "runtime/signal.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/inline_io.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

task<wake> wait_once(io& i, signal& s, limit l) {
  const wake why = co_await wait(i, s, l);
  co_return why;
}

/// A wait on an io whose clock the test moves.
class signal_of_tasks : public testing::Test {
 protected:
  std::future<wake> wait_for(const limit& l) { return test::start(running_, wait_once(io_, signal_, l)); }
  void advance(span by) { io_.advance(by); }
  [[nodiscard]] instant in(span by) const { return io_.now() + by; }

  test::manual_io io_;
  task_group running_{io_};
  signal signal_;
};

TEST_F(signal_of_tasks, wakes_its_waiter) {
  std::future<wake> woken = wait_for(limit(never));
  io_.run();
  EXPECT_FALSE(test::is_ready(woken));
  signal_.set();
  io_.run();
  EXPECT_EQ(woken.get(), wake::signalled);
}

TEST_F(signal_of_tasks, is_remembered_when_set_before_the_wait) {
  signal_.set();
  std::future<wake> woken = wait_for(limit(never));
  io_.run();
  EXPECT_EQ(woken.get(), wake::signalled);
}

TEST_F(signal_of_tasks, is_cleared_by_one_wait_even_if_set_twice) {
  signal_.set();
  signal_.set();
  std::future<wake> first = wait_for(limit(never));
  io_.run();
  EXPECT_EQ(first.get(), wake::signalled);
  std::future<wake> second = wait_for(limit(in(1ms)));
  advance(1ms);
  EXPECT_EQ(second.get(), wake::late);
}

TEST_F(signal_of_tasks, times_out_at_its_limit_and_not_before) {
  std::future<wake> woken = wait_for(limit(in(10ms)));
  advance(10ms - 1ns);
  EXPECT_FALSE(test::is_ready(woken));
  advance(1ns);
  EXPECT_EQ(woken.get(), wake::late);
}

TEST_F(signal_of_tasks, times_out_at_once_when_its_limit_has_passed) {
  std::future<wake> woken = wait_for(limit(in(0ms)));
  io_.run();
  EXPECT_EQ(woken.get(), wake::late);
}

TEST_F(signal_of_tasks, is_stopped_by_the_token_at_once) {
  std::stop_source stop;
  std::future<wake> woken = wait_for(limit(in(1h), stop.get_token()));
  io_.run();
  stop.request_stop();
  io_.run();
  EXPECT_EQ(woken.get(), wake::stopped);
}

TEST_F(signal_of_tasks, is_stopped_at_once_by_a_token_already_stopped) {
  std::stop_source stop;
  stop.request_stop();
  std::future<wake> woken = wait_for(limit(never, stop.get_token()));
  io_.run();
  EXPECT_EQ(woken.get(), wake::stopped);
}

TEST_F(signal_of_tasks, wins_over_a_limit_that_has_passed) {
  signal_.set();
  std::future<wake> woken = wait_for(limit(in(0ms)));
  io_.run();
  EXPECT_EQ(woken.get(), wake::signalled);
}

TEST_F(signal_of_tasks, wins_over_a_stop_before_the_waiter_has_run) {
  std::stop_source stop;
  std::future<wake> woken = wait_for(limit(never, stop.get_token()));
  io_.run();
  stop.request_stop();  // the waiter is posted, and has not run yet
  signal_.set();
  io_.run();
  EXPECT_EQ(woken.get(), wake::signalled);
}

TEST_F(signal_of_tasks, does_not_remember_a_stop) {
  std::stop_source stop;
  stop.request_stop();
  std::future<wake> first = wait_for(limit(never, stop.get_token()));
  io_.run();
  EXPECT_EQ(first.get(), wake::stopped);
  std::future<wake> second = wait_for(limit(in(1ms)));
  advance(1ms);
  EXPECT_EQ(second.get(), wake::late);
}

TEST_F(signal_of_tasks, keeps_a_set_after_a_timeout_for_the_next_wait) {
  std::future<wake> first = wait_for(limit(in(1ms)));
  advance(1ms);
  EXPECT_EQ(first.get(), wake::late);
  signal_.set();
  std::future<wake> second = wait_for(limit(never));
  io_.run();
  EXPECT_EQ(second.get(), wake::signalled);
}

TEST_F(signal_of_tasks, ignores_the_timer_of_a_wait_that_has_ended) {
  std::future<wake> first = wait_for(limit(in(10ms)));
  io_.run();
  signal_.set();
  io_.run();
  EXPECT_EQ(first.get(), wake::signalled);
  std::future<wake> second = wait_for(limit(in(1h)));
  advance(30min);
  EXPECT_FALSE(test::is_ready(second));
  advance(30min);
  EXPECT_EQ(second.get(), wake::late);
}

TEST(signal_inline, is_remembered_when_set_before_the_wait) {
  signal s;
  s.set();
  EXPECT_EQ(wait_here(s, limit(never)), wake::signalled);
  EXPECT_EQ(wait_here(s, within(0s)), wake::late);
}

TEST(signal_inline, times_out_after_its_limit_and_not_before) {
  signal s;
  const instant end = boot_clock::now() + 2ms;
  EXPECT_EQ(wait_here(s, limit(end)), wake::late);
  EXPECT_GE(boot_clock::now(), end);
}

TEST(signal_inline, is_set_by_another_thread) {
  signal s;
  std::thread other([&] { s.set(); });
  EXPECT_EQ(wait_here(s, limit(never)), wake::signalled);
  other.join();
}

TEST(signal_inline, is_stopped_by_another_thread) {
  signal s;
  std::stop_source stop;
  std::thread other([&] { stop.request_stop(); });
  EXPECT_EQ(wait_here(s, until(stop.get_token())), wake::stopped);
  other.join();
}

TEST(signal_inline, wins_over_a_passed_limit_and_over_a_stop) {
  signal s;
  std::stop_source stop;
  stop.request_stop();
  s.set();
  EXPECT_EQ(wait_here(s, within(0s, stop.get_token())), wake::signalled);
}

}  // namespace
}  // namespace holdfast::runtime
