#include "runtime/timers.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <vector>

#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"
#include "support/manual_io.hpp"
#include "unit/runtime/helpers.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

TEST(timers, fire_in_order_and_equal_ones_in_fifo_order) {
  test::manual_io io;
  task_group running(io);
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

TEST(timers, know_the_earliest_time) {
  timers none;
  EXPECT_EQ(none.first(), never);
  EXPECT_FALSE(none.pop_due(never - 1ns));
}

TEST(timers, do_not_fire_early) {
  test::manual_io io;
  task_group running(io);
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

task<void> wait_until(io& i, signal& s, instant until, int who, std::vector<int>& late) {
  const wake why = co_await wait(i, s, limit(until));
  if (why == wake::late) late.push_back(who);
}

TEST(timers, drop_a_wait_that_ended_early) {
  test::manual_io io;
  task_group running(io);
  signal s;
  std::vector<wake> ends;
  running.spawn(wait_and_tell(io, s, io.now() + 5ms, ends));
  io.run();
  s.set();
  io.advance(1h);
  EXPECT_EQ(ends, std::vector{wake::signalled});
}

TEST(timers, keep_their_order_when_waits_come_and_go) {
  test::manual_io io;
  task_group running(io);
  constexpr int many = 500;
  std::vector<signal> cut(many);
  std::vector<int> late;
  std::multimap<instant, int> expected;
  for (int who = 0; who < many; ++who) {
    const instant at = io.now() + 1ms + (io.random() % 200) * 1ms;
    running.spawn(wait_until(io, cut[static_cast<std::size_t>(who)], at, who, late));
    expected.emplace(at, who);  // equal ones in the order in which they were armed
    if (who % 3 == 0) io.run();
  }
  io.run();
  const auto cut_some = [&] {
    for (auto at = expected.begin(); at != expected.end();) {
      const bool goes = at->first > io.now() && io.random() % 4 == 0;
      if (goes) cut[static_cast<std::size_t>(at->second)].set();
      at = goes ? expected.erase(at) : std::next(at);
    }
    io.run();
  };
  for (int k = 0; k < 4; ++k) {
    cut_some();
    io.advance(50ms);
  }
  io.advance(1s);
  std::vector<int> in_order;
  for (const auto& [at, who] : expected) in_order.push_back(who);
  EXPECT_EQ(late, in_order);
  EXPECT_EQ(running.running(), 0);
}

}  // namespace
}  // namespace holdfast::runtime
