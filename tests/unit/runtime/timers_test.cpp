#include "runtime/timers.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/nursery.hpp"
#include "runtime/signal.hpp"
#include "support/manual_io.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

task<void> sleep_and_tell(io& i, instant until, int who, std::vector<int>& order) {
  const wake why = co_await sleep(i, limit(until));
  if (why == wake::late) order.push_back(who);
}

TEST(timers, wake_the_earliest_first_and_of_equal_ones_the_first_that_came) {
  test::manual_io io;
  nursery running(io);
  std::vector<int> order;
  const instant now = io.now();
  for (int who = 0; who < 100; ++who) running.spawn(sleep_and_tell(io, now + (who % 10) * 1ms + 1ms, who, order));
  io.advance(10ms);
  std::vector<int> expected;
  for (int tenth = 0; tenth < 10; ++tenth) {
    for (int who = tenth; who < 100; who += 10) expected.push_back(who);
  }
  EXPECT_EQ(order, expected);
}

TEST(timers, know_the_first_date) {
  timers none;
  EXPECT_EQ(none.first(), never);
  EXPECT_FALSE(none.pop_due(never - 1ns));
}

TEST(timers, do_not_wake_before_the_date) {
  test::manual_io io;
  nursery running(io);
  std::vector<int> order;
  running.spawn(sleep_and_tell(io, io.now() + 5ms, 1, order));
  io.advance(5ms - 1ns);
  EXPECT_TRUE(order.empty());
  io.advance(1ns);
  EXPECT_EQ(order, std::vector{1});
}

task<void> wait_and_tell(io& i, signal& s, instant until, std::vector<wake>& ends) {
  const wake why = co_await wait(i, s, limit(until));
  ends.push_back(why);
}

TEST(timers, forget_a_wait_that_has_ended_before_its_date) {
  test::manual_io io;
  nursery running(io);
  signal s;
  std::vector<wake> ends;
  running.spawn(wait_and_tell(io, s, io.now() + 5ms, ends));
  io.run();
  s.set();
  io.advance(1h);
  EXPECT_EQ(ends, std::vector{wake::signalled});
}

}  // namespace
}  // namespace holdfast::runtime
