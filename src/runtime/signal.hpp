#pragma once
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "runtime/io.hpp"
#include "runtime/task.hpp"

namespace holdfast::runtime {

/// Why a wait ended.
enum class wake { signalled, late, stopped };

/// An event that wakes one waiter; the only object through which tasks of different threads communicate. It stays set
/// until the waiter has seen it. Other threads find it in a guarded table; the waiter removes it from there before it
/// is destroyed, or the thread that sets it does. set() does not touch the signal after the waiter can have seen it.
class signal {
 public:
  signal() noexcept = default;
  signal(const signal&) = delete;
  signal& operator=(const signal&) = delete;

  void set() noexcept { raise(set_bit); }  ///< from any thread
  [[nodiscard]] bool is_set() const noexcept { return (state_.load(std::memory_order_acquire) & set_bit) != 0; }

 private:
  friend class waiting;
  friend class timers;

  // One word: three flags and, in the bits above them, a pointer to the coroutine that waits, if any.
  static constexpr std::uint64_t set_bit = 1, stop_bit = 2, asleep_bit = 4, flags = 7;

  void raise(std::uint64_t bit) noexcept;
  std::optional<wake> take() noexcept;  // clears and returns what was raised, if anything
  wake sleep(instant until) noexcept;   // inline: the calling thread sleeps
  bool park(parked&) noexcept;          // returns false if something was already raised
  bool unpark(const parked&) noexcept;  // returns false if it was raised meanwhile, and was posted
  void forget_stop() noexcept { state_.fetch_and(~stop_bit, std::memory_order_acq_rel); }

  alignas(8) std::atomic<std::uint64_t> state_{0};
};

/// The awaiter behind wait().
class [[nodiscard]] waiting {
 public:
  waiting(io& on, signal& at, const limit& l) : parked_(on), signal_(at), limit_(l) {}
  bool await_ready();
  bool await_suspend(std::coroutine_handle<>);
  wake await_resume() noexcept;

 private:
  struct stopper {
    signal& at;
    void operator()() const noexcept { at.raise(signal::stop_bit); }
  };
  parked parked_;
  signal& signal_;
  const limit limit_;
  std::optional<wake> ready_;
  std::optional<std::stop_callback<stopper>> stop_;
};

/// Waits until the signal is set, and clears it; or until the limit. If both have happened, the signal wins. An inline
/// wait sleeps on the monotonic clock, so after the machine was suspended it may end late, but never early.
inline waiting wait(io& i, signal& s, const limit& l = limit(never)) { return {i, s, l}; }

/// Waits for the limit only.
inline task<wake> sleep(io& i, limit l) {
  signal nothing;
  const wake why = co_await wait(i, nothing, l);
  co_return why;
}

}  // namespace holdfast::runtime
