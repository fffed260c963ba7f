#pragma once
#include <atomic>

namespace holdfast::runtime {

/// A mutex of 4 bytes; std::mutex has 40. Every held lease contains four of them.
class small_mutex {
 public:
  small_mutex() noexcept = default;
  small_mutex(const small_mutex&) = delete;
  small_mutex& operator=(const small_mutex&) = delete;

  void lock() noexcept {
    int was = open;
    if (state_.compare_exchange_strong(was, locked, std::memory_order_acquire, std::memory_order_relaxed)) return;
    while (state_.exchange(waited_for, std::memory_order_acquire) != open) {
      state_.wait(waited_for, std::memory_order_relaxed);
    }
  }
  /// Does not touch the mutex after another thread can have locked it, because that thread may destroy it.
  void unlock() noexcept {
    if (state_.exchange(open, std::memory_order_release) == waited_for) state_.notify_one();
  }

 private:
  static constexpr int open = 0, locked = 1, waited_for = 2;
  std::atomic<int> state_{open};
};

}  // namespace holdfast::runtime
