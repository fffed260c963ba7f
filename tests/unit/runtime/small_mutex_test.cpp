#include "runtime/small_mutex.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

TEST(small_mutex, is_small) { EXPECT_EQ(sizeof(small_mutex), 4u); }

TEST(small_mutex, admits_one_thread_at_a_time_and_all_in_the_end) {
  small_mutex mutex;
  int counted = 0;
  {
    const test::threads all(8, [&](int) {
      for (int k = 0; k < 20'000; ++k) {
        const std::lock_guard inside(mutex);
        ++counted;
      }
    });
  }
  EXPECT_EQ(counted, 160'000);
}

/// The last thread destroys it, like the last owner of a shared object.
TEST(small_mutex, may_be_destroyed_by_the_last_thread_that_locked_it) {
  struct shared {
    small_mutex mutex;
    int users = 2;
  };
  for (int k = 0; k < 2'000; ++k) {
    auto* const it = new shared;
    const test::threads all(2, [&](int) {
      it->mutex.lock();
      const bool last = --it->users == 0;
      it->mutex.unlock();
      if (last) delete it;
    });
  }
}

}  // namespace
}  // namespace holdfast::runtime
