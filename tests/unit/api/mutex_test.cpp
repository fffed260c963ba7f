#include "holdfast/mutex.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "support/bounds.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class mutex_test : public testing::Test {
 protected:
  /// The result of a call on another thread.
  template <class F>
  auto elsewhere(F f) {
    decltype(f()) result{};
    std::thread([&] { result = f(); }).join();
    return result;
  }
  [[nodiscard]] bool is_free() {
    return elsewhere([&] {
      if (!mutex_.try_lock()) return false;
      mutex_.unlock();
      return true;
    });
  }

  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  store store_ = service_.open({.observe = seen_});
  mutex mutex_{store_, "a"};
};

TEST_F(mutex_test, works_with_the_guards_of_the_standard_library) {
  {
    const std::scoped_lock guard(mutex_);
    EXPECT_FALSE(is_free());
  }
  {
    const std::lock_guard guard(mutex_);
    EXPECT_FALSE(is_free());
  }
  {
    std::unique_lock guard(mutex_, 1s);
    EXPECT_TRUE(guard.owns_lock());
    guard.unlock();
    EXPECT_TRUE(is_free());
    EXPECT_TRUE(guard.try_lock());
  }
  EXPECT_TRUE(is_free());
}

TEST_F(mutex_test, works_with_a_scoped_lock_over_two_of_them) {
  mutex other(store_, "b");
  int counted = 0;
  {
    const test::threads all(4, [&](int me) {
      for (int k = 0; k < 25; ++k) {
        if (me % 2 == 0) {
          const std::scoped_lock both(mutex_, other);
          ++counted;
        } else {
          const std::scoped_lock both(other, mutex_);
          ++counted;
        }
      }
    });
  }
  EXPECT_EQ(counted, 100);
}

TEST_F(mutex_test, excludes_other_threads) {
  int guarded_by_it = 0;
  {
    const test::threads all(8, [&](int) {
      for (int k = 0; k < 100; ++k) {
        const std::scoped_lock guard(mutex_);
        ++guarded_by_it;
      }
    });
  }
  EXPECT_EQ(guarded_by_it, 800);
}

TEST_F(mutex_test, tries_for_at_least_the_given_time) {
  const std::scoped_lock guard(mutex_);
  EXPECT_TRUE(elsewhere([&] {
    const auto steady = std::chrono::steady_clock::now() + 3ms;
    const bool got = mutex_.try_lock_for(3ms);
    return !got && std::chrono::steady_clock::now() >= steady;
  }));
  EXPECT_TRUE(elsewhere([&] {
    const auto wall = std::chrono::system_clock::now() + 3ms;
    const bool got = mutex_.try_lock_until(wall);
    return !got && std::chrono::system_clock::now() >= wall;
  }));
  EXPECT_TRUE(elsewhere([&] {
    const auto boot = boot_clock::now() + 3ms;
    const bool got = mutex_.try_lock_until(boot);
    return !got && boot_clock::now() >= boot;
  }));
}

TEST_F(mutex_test, is_acquired_by_a_try_that_lasts_long_enough) {
  std::unique_lock guard(mutex_);
  std::thread other([&] {
    EXPECT_TRUE(mutex_.try_lock_for(test::hang));
    mutex_.unlock();
    EXPECT_TRUE(mutex_.try_lock_until(std::chrono::system_clock::now() + test::hang));
    mutex_.unlock();
  });
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  guard.unlock();
  other.join();
}

TEST_F(mutex_test, accepts_extreme_durations_and_time_points) {
  for (int round = 0; round < 2; ++round) {
    const bool free = round == 0;
    const auto got = [&](bool answer) {
      if (answer) mutex_.unlock();
      return answer;
    };
    EXPECT_EQ(elsewhere([&] { return got(mutex_.try_lock_for(0s)); }), free);
    EXPECT_EQ(elsewhere([&] { return got(mutex_.try_lock_for(-1h)); }), free);
    EXPECT_EQ(elsewhere([&] { return got(mutex_.try_lock_for(std::chrono::hours::min())); }), free);
    EXPECT_EQ(elsewhere([&] { return got(mutex_.try_lock_until(std::chrono::system_clock::time_point())); }), free);
    if (free) {
      EXPECT_TRUE(elsewhere([&] { return got(mutex_.try_lock_for(std::chrono::hours::max())); }));
      EXPECT_TRUE(elsewhere([&] { return got(mutex_.try_lock_until(std::chrono::steady_clock::time_point::max())); }));
      mutex_.lock();
    }
  }
  mutex_.unlock();
}

TEST_F(mutex_test, throws_would_deadlock_when_locked_twice) {
  const std::scoped_lock guard(mutex_);
  const auto refused = [](const auto& lock) {
    try {
      lock();
    } catch (const lock_error& e) {
      return e.code() == errc::would_deadlock && e.lock() == "a";
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { mutex_.lock(); }));
  EXPECT_TRUE(refused([&] { (void)mutex_.lock(std::stop_token()); }));
  EXPECT_TRUE(refused([&] { (void)mutex_.try_lock_for(1s); }));
  EXPECT_FALSE(mutex_.try_lock());
  EXPECT_TRUE(mutex_.current().held()) << "the first lease is still held";
}

TEST_F(mutex_test, excludes_another_object_of_the_same_name) {
  mutex twin(store_, "a");
  const std::scoped_lock guard(mutex_);
  EXPECT_FALSE(twin.try_lock());
  EXPECT_FALSE(twin.try_lock_for(1ms));
}

TEST_F(mutex_test, stops_waiting_when_its_token_is_stopped) {
  const std::scoped_lock guard(mutex_);
  std::stop_source stop;
  std::thread other([&] { EXPECT_FALSE(mutex_.lock(stop.get_token())); });
  EXPECT_TRUE(seen_->comes(event::kind::waiting));
  stop.request_stop();
  other.join();
}

TEST_F(mutex_test, is_acquired_with_a_token_that_is_not_stopped) {
  std::stop_source stop;
  EXPECT_TRUE(mutex_.lock(stop.get_token()));
  mutex_.unlock();
}

TEST_F(mutex_test, shows_each_thread_its_own_lease) {
  EXPECT_THROW((void)mutex_.current(), lock_error);
  const std::scoped_lock guard(mutex_);
  EXPECT_TRUE(mutex_.current().held());
  EXPECT_EQ(mutex_.current().name(), "a");
  EXPECT_GT(mutex_.current().fence(), 0u);
  EXPECT_TRUE(elsewhere([&] {
    try {
      (void)mutex_.current();
    } catch (const lock_error& e) {
      return e.code() == errc::lost;
    }
    return false;
  }));
}

TEST_F(mutex_test, may_be_unlocked_by_another_thread) {
  std::unique_lock guard(mutex_);
  std::thread([moved = std::move(guard)] { EXPECT_TRUE(moved.owns_lock()); }).join();
  EXPECT_TRUE(is_free());
  EXPECT_THROW((void)mutex_.current(), lock_error) << "the thread has no lease any more";
}

/// The system reuses the id of a thread that has ended.
TEST_F(mutex_test, distinguishes_a_new_thread_from_one_that_ended) {
  std::unique_lock<mutex> moved;
  const auto ended = elsewhere([&] {
    moved = std::unique_lock(mutex_);
    return std::this_thread::get_id();
  });
  bool met = false;
  for (int k = 0; k < 1'000 && !met; ++k) {
    std::thread([&] {
      if (std::this_thread::get_id() != ended) return;
      met = true;
      EXPECT_FALSE(mutex_.try_lock());
      EXPECT_NO_THROW(EXPECT_FALSE(mutex_.try_lock_for(1ms))) << "waiting for another thread is no deadlock";
      EXPECT_THROW((void)mutex_.current(), lock_error) << "it got the lease of another thread";
    }).join();
  }
  EXPECT_TRUE(met) << "no id was reused, so nothing was tested";
  EXPECT_FALSE(is_free());
  moved.unlock();
  EXPECT_TRUE(is_free());
}

TEST_F(mutex_test, warns_of_an_unlock_when_not_locked) {
  mutex_.unlock();
  EXPECT_TRUE(seen_->comes(event::kind::warning));
  EXPECT_TRUE(is_free());
}

/// The holder's lease is lost, another thread locks the same object, and then the first one unlocks.
TEST_F(mutex_test, keeps_another_threads_lock_on_unlock_after_loss) {
  mutex shared(store_, "b", {.ttl = 600ms});
  std::counting_semaphore<> taken(0), unlocked(0);
  shared.lock();
  const std::uint64_t fence = shared.current().fence();
  service_.server().forget_everything();
  ASSERT_TRUE(test::happens(shared.current().lost_token()));
  EXPECT_FALSE(shared.current().held());
  std::thread other([&] {
    shared.lock();
    EXPECT_GT(shared.current().fence(), fence);
    taken.release();
    EXPECT_TRUE(test::happens(unlocked));
    EXPECT_TRUE(shared.current().held());
    EXPECT_FALSE(store_.try_acquire("b")) << "another client could acquire it";
    shared.unlock();
  });
  ASSERT_TRUE(test::happens(taken));
  shared.unlock();
  unlocked.release();
  other.join();
  EXPECT_TRUE(store_.try_acquire("b"));
}

TEST_F(mutex_test, releases_its_locks_on_destruction) {
  {
    mutex brief(store_, "a");
    brief.lock();
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
}

TEST_F(mutex_test, outlives_the_store_handle_it_was_created_from) {
  std::optional<store> handle = service_.open();
  mutex lasting(*handle, "b");
  handle.reset();
  const std::scoped_lock guard(lasting);
  EXPECT_TRUE(lasting.current().held());
}

TEST_F(mutex_test, fails_when_the_store_fails) {
  store impatient = service_.open({.patience = 1ms});
  mutex failing(impatient, "b");
  service_.lose_all_requests();
  EXPECT_THROW(failing.lock(), lock_error);
  EXPECT_THROW((void)failing.try_lock(), lock_error);
  EXPECT_THROW((void)failing.try_lock_for(1h), lock_error);
  service_.heal();
  const std::scoped_lock guard(failing);
}

}  // namespace
}  // namespace holdfast
