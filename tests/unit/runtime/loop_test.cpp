#include "runtime/loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"
#include "support/started.hpp"
#include "support/threads.hpp"
#include "unit/runtime/helpers.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

/// A running loop with tasks.
class loop_thread : public testing::Test {
 protected:
  loop_thread() { loop_.start(); }
  ~loop_thread() override { running_.wait_until_empty(); }

  loop loop_;
  task_group running_{loop_};
};

task<std::thread::id> where_am_i() { co_return std::this_thread::get_id(); }

TEST_F(loop_thread, runs_what_other_threads_post_on_its_own_thread) {
  std::atomic<int> there{0};
  const std::thread::id expected = test::get(test::start(running_, where_am_i()));
  EXPECT_NE(expected, std::this_thread::get_id());
  EXPECT_FALSE(loop_.is_this_thread());
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 250; ++k) there += test::get(test::start(running_, where_am_i())) == expected ? 1 : 0;
    });
  }
  EXPECT_EQ(there, 1'000);
}

task<bool> runs_on(loop& l) { co_return l.is_this_thread(); }

TEST_F(loop_thread, knows_its_own_thread) { EXPECT_TRUE(test::get(test::start(running_, runs_on(loop_)))); }

TEST_F(loop_thread, fires_timers_in_order_and_never_early) {
  std::vector<int> order;
  const instant now = boot_clock::now();
  std::future<void> third = test::start(running_, sleep_and_tell(loop_, now + 9ms, 3, order));
  std::future<void> second = test::start(running_, sleep_and_tell(loop_, now + 6ms, 2, order));
  std::future<void> first = test::start(running_, sleep_and_tell(loop_, now + 3ms, 1, order));
  test::get(std::move(first));
  test::get(std::move(second));
  test::get(std::move(third));
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(loop_thread, wakes_for_a_timer_earlier_than_the_armed_one) {
  std::stop_source stop;
  std::future<wake> far = test::start(running_, sleep(loop_, within(1h, stop.get_token())));
  std::vector<int> order;
  test::get(test::start(running_, sleep_and_tell(loop_, boot_clock::now() + 1ms, 1, order)));
  EXPECT_EQ(order, std::vector{1});
  EXPECT_FALSE(test::is_ready(far));
  stop.request_stop();
  EXPECT_EQ(test::get(std::move(far)), wake::stopped);
}

TEST_F(loop_thread, fires_timers_of_the_past_at_once) {
  EXPECT_EQ(test::get(test::start(running_, sleep(loop_, limit(instant())))), wake::late);
  EXPECT_EQ(test::get(test::start(running_, sleep(loop_, limit(instant::min())))), wake::late);
}

task<int> yield_many_times(loop& l, int n) {
  int turns = 0;
  for (; turns < n; ++turns) {
    const wake why = co_await sleep(l, limit(l.now() + 1ns));
    if (why != wake::late) break;
  }
  co_return turns;
}

TEST_F(loop_thread, is_fair_beside_a_task_that_is_always_ready) {
  std::stop_source stop;
  std::future<int> busy = test::start(running_, yield_many_times(loop_, 2'000));
  std::future<wake> other = test::start(running_, sleep(loop_, within(1h, stop.get_token())));
  stop.request_stop();
  EXPECT_EQ(test::get(std::move(other)), wake::stopped);
  EXPECT_EQ(test::get(std::move(busy)), 2'000);
}

TEST(loop, ends_without_having_started) {
  loop unused;
  EXPECT_FALSE(unused.is_this_thread());
}

TEST(loop, starts_once_when_many_threads_start_it) {
  loop l;
  {
    const test::threads all(4, [&](int) { l.start(); });
  }
  task_group running(l);
  EXPECT_TRUE(test::get(test::start(running, runs_on(l))));
  running.wait_until_empty();
}

TEST(loop, draws_random_numbers_that_differ) {
  loop l;
  std::set<std::uint64_t> seen;
  for (int k = 0; k < 100; ++k) seen.insert(l.random());
  EXPECT_EQ(seen.size(), 100u);
}

/// The clocks of all timer descriptors of this process, according to the kernel.
std::multiset<int> timer_clocks() {
  std::multiset<int> clocks;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(fd.path(), gone).string();
    if (what.find("timerfd") == std::string::npos) continue;
    std::ifstream info("/proc/self/fdinfo/" + fd.path().filename().string());
    for (std::string key; info >> key;) {
      int clock = 0;
      if (key == "clockid:" && info >> clock) clocks.insert(clock);
    }
  }
  return clocks;
}

TEST(loop, counts_suspended_time_in_its_waits) {
  const std::multiset<int> before = timer_clocks();
  const loop l;
  const std::multiset<int> now = timer_clocks();
  EXPECT_EQ(now.size(), before.size() + 1);
  EXPECT_EQ(now.count(CLOCK_BOOTTIME), before.count(CLOCK_BOOTTIME) + 1);
}

}  // namespace
}  // namespace holdfast::runtime
