#pragma once
#include <atomic>

#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::runtime {

/// A FIFO mutex that tasks of any io can wait for.
class async_mutex {
 public:
  /// Returns true if it was locked. Needs no coroutine frame.
  [[nodiscard]] bool try_lock() noexcept;
  /// Returns false if the limit ended first.
  [[nodiscard]] task<bool> try_lock_until(io&, limit);
  void unlock() noexcept;

 private:
  enum class state : unsigned char { free, locked, waited_for };
  std::atomic<state> state_{state::free};  // waited_for is set under the lock of waiters_ only
  guarded<wait_list<>> waiters_;
};

/// Unlocks a mutex that its owner has locked. It belongs to a task, not to a thread, and may outlive a co_await.
class [[nodiscard]] adopted_lock {
 public:
  explicit adopted_lock(async_mutex& m) noexcept : mutex_(m) {}
  adopted_lock(const adopted_lock&) = delete;
  adopted_lock& operator=(const adopted_lock&) = delete;
  ~adopted_lock() { mutex_.unlock(); }

 private:
  async_mutex& mutex_;
};

}  // namespace holdfast::runtime
