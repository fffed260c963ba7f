#include "runtime/async_mutex.hpp"

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

class async_mutex_of_tasks : public testing::Test {
 protected:
  std::future<bool> lock(const limit& l = limit(never)) {
    std::future<bool> locked = test::start(running_, mutex_.try_lock_until(io_, l));
    io_.run();
    return locked;
  }
  void unlock() {
    mutex_.unlock();
    io_.run();
  }

  test::manual_io io_;
  task_group running_{io_};
  async_mutex mutex_;
};

TEST_F(async_mutex_of_tasks, is_locked_when_it_is_free) {
  EXPECT_TRUE(mutex_.try_lock());
  EXPECT_FALSE(mutex_.try_lock());
  mutex_.unlock();
  EXPECT_TRUE(lock().get());
  EXPECT_FALSE(mutex_.try_lock());
}

TEST_F(async_mutex_of_tasks, passes_to_waiters_in_fifo_order) {
  ASSERT_TRUE(mutex_.try_lock());
  std::future<bool> first = lock(), second = lock(), third = lock();
  unlock();
  EXPECT_TRUE(first.get());
  EXPECT_FALSE(test::is_ready(second));
  EXPECT_FALSE(mutex_.try_lock()) << "it overtakes the waiters";
  unlock();
  EXPECT_TRUE(second.get());
  unlock();
  EXPECT_TRUE(third.get());
  unlock();
  EXPECT_TRUE(mutex_.try_lock());
}

TEST_F(async_mutex_of_tasks, skips_a_waiter_whose_limit_ended) {
  ASSERT_TRUE(mutex_.try_lock());
  std::future<bool> first = lock(limit(io_.now() + 1ms)), second = lock(), third = lock(limit(io_.now() + 1ms));
  io_.advance(1ms);
  EXPECT_FALSE(first.get());
  EXPECT_FALSE(third.get());
  EXPECT_FALSE(test::is_ready(second));
  unlock();
  EXPECT_TRUE(second.get());
  unlock();
  EXPECT_TRUE(mutex_.try_lock());
}

TEST_F(async_mutex_of_tasks, skips_a_waiter_that_was_stopped) {
  ASSERT_TRUE(mutex_.try_lock());
  std::stop_source stop;
  std::future<bool> first = lock(until(stop.get_token())), second = lock();
  stop.request_stop();
  io_.run();
  EXPECT_FALSE(first.get());
  unlock();
  EXPECT_TRUE(second.get());
}

TEST_F(async_mutex_of_tasks, belongs_to_a_waiter_stopped_at_the_same_instant) {
  ASSERT_TRUE(mutex_.try_lock());
  std::stop_source stop;
  std::future<bool> locked = lock(until(stop.get_token()));
  stop.request_stop();
  mutex_.unlock();
  io_.run();
  EXPECT_TRUE(locked.get());
  EXPECT_FALSE(mutex_.try_lock());
}

task<int> lock_many_times(io& i, async_mutex& m, int times, int& guarded_by_it) {
  int locked = 0;
  for (int k = 0; k < times; ++k) {
    const bool mine = co_await m.try_lock_until(i, limit(i.now() + std::chrono::microseconds(k % 50)));
    if (!mine) continue;
    ++guarded_by_it;
    ++locked;
    m.unlock();
  }
  co_return locked;
}

TEST(async_mutex_race, excludes_threads_and_loop_while_limits_end) {
  async_mutex m;
  int guarded_by_it = 0;
  std::atomic<int> locked{0};
  loop l;
  l.start();
  task_group running(l);
  std::vector<std::future<int>> on_loop;
  for (int k = 0; k < 4; ++k) {
    on_loop.push_back(test::start(running, lock_many_times(l, m, 500, guarded_by_it)));
  }
  {
    const test::threads all(4, [&](int) {
      inline_io here;
      locked += run_inline(lock_many_times(here, m, 500, guarded_by_it));
    });
  }
  for (auto& one : on_loop) locked += test::get(std::move(one));
  running.wait_until_empty();
  EXPECT_GT(locked, 0);
  ASSERT_TRUE(m.try_lock()) << "it was never unlocked";
  EXPECT_EQ(guarded_by_it, locked);
}

}  // namespace
}  // namespace holdfast::runtime
