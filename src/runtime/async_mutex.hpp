#pragma once
#include <atomic>

#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::runtime {

/// A FIFO mutex that tasks of any io can wait for. std::lock_guard unlocks it, with std::adopt_lock.
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

}  // namespace holdfast::runtime
