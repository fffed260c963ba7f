#include "runtime/turn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"
#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

class turn_at_home : public testing::Test {
 protected:
  std::future<bool> enter(const limit& l = limit(never)) {
    std::future<bool> entered = test::start(running_, turn_.enter(io_, l));
    io_.run();
    return entered;
  }
  void leave() {
    turn_.leave();
    io_.run();
  }

  test::manual_io io_;
  nursery running_{io_};
  turn turn_;
};

TEST_F(turn_at_home, is_ours_when_nobody_else_is_there) {
  EXPECT_TRUE(turn_.try_enter());
  EXPECT_FALSE(turn_.try_enter());
  turn_.leave();
  EXPECT_TRUE(enter().get());
  EXPECT_FALSE(turn_.try_enter());
}

TEST_F(turn_at_home, passes_to_those_who_wait_in_the_order_in_which_they_came) {
  ASSERT_TRUE(turn_.try_enter());
  std::future<bool> first = enter(), second = enter(), third = enter();
  leave();
  EXPECT_TRUE(first.get());
  EXPECT_FALSE(test::is_ready(second));
  EXPECT_FALSE(turn_.try_enter()) << "it overtakes those who wait";
  leave();
  EXPECT_TRUE(second.get());
  leave();
  EXPECT_TRUE(third.get());
  leave();
  EXPECT_TRUE(turn_.try_enter());
}

TEST_F(turn_at_home, skips_whoever_gave_up_at_its_limit) {
  ASSERT_TRUE(turn_.try_enter());
  std::future<bool> first = enter(limit(io_.now() + 1ms)), second = enter(), third = enter(limit(io_.now() + 1ms));
  io_.advance(1ms);
  EXPECT_FALSE(first.get());
  EXPECT_FALSE(third.get());
  EXPECT_FALSE(test::is_ready(second));
  leave();
  EXPECT_TRUE(second.get());
  leave();
  EXPECT_TRUE(turn_.try_enter());
}

TEST_F(turn_at_home, skips_whoever_was_asked_to_stop) {
  ASSERT_TRUE(turn_.try_enter());
  std::stop_source stop;
  std::future<bool> first = enter(until(stop.get_token())), second = enter();
  stop.request_stop();
  io_.run();
  EXPECT_FALSE(first.get());
  leave();
  EXPECT_TRUE(second.get());
}

TEST_F(turn_at_home, belongs_to_whoever_it_was_passed_to_in_the_instant_it_gave_up) {
  ASSERT_TRUE(turn_.try_enter());
  std::stop_source stop;
  std::future<bool> entered = enter(until(stop.get_token()));
  stop.request_stop();
  turn_.leave();
  io_.run();
  EXPECT_TRUE(entered.get());
  EXPECT_FALSE(turn_.try_enter());
}

task<int> enter_many_times(io& i, turn& t, int times, int& guarded_by_it) {
  int entered = 0;
  for (int k = 0; k < times; ++k) {
    const bool mine = co_await t.enter(i, limit(i.now() + std::chrono::microseconds(k % 50)));
    if (!mine) continue;
    ++guarded_by_it;
    ++entered;
    t.leave();
  }
  co_return entered;
}

TEST(turn_race, keeps_threads_and_loop_apart_and_is_never_lost_when_limits_end_all_the_time) {
  turn t;
  int guarded_by_it = 0;
  std::atomic<int> entered{0};
  loop home;
  home.start();
  nursery running(home);
  std::vector<std::future<int>> at_home;
  for (int k = 0; k < 4; ++k) {
    at_home.push_back(test::start(running, enter_many_times(home, t, 500, guarded_by_it)));
  }
  {
    const test::threads all(4, [&](int) {
      inline_io here;
      entered += run_inline(enter_many_times(here, t, 500, guarded_by_it));
    });
  }
  for (auto& one : at_home) entered += test::get(std::move(one));
  running.wait_until_empty();
  EXPECT_GT(entered, 0);
  ASSERT_TRUE(t.try_enter()) << "somebody left with the turn";
  EXPECT_EQ(guarded_by_it, entered);
}

}  // namespace
}  // namespace holdfast::runtime
