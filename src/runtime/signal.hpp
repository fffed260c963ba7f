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

/// The only thing that crosses threads. Sticky; one waiter. Others reach it through a guarded table that its waiter
/// leaves before the signal dies, or take it out of that table as they set it. set() touches nothing of the signal once
/// the waiter can have seen it.
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

  // The state is one word: three flags, and above them the parked coroutine, if one waits.
  static constexpr std::uint64_t set_bit = 1, stop_bit = 2, asleep_bit = 4, flags = 7;

  void raise(std::uint64_t bit) noexcept;
  std::optional<wake> take() noexcept;  // what was raised, if anything
  wake sleep(instant until) noexcept;   // inline: this thread sleeps right here
  bool park(parked&) noexcept;          // false: something was raised already
  bool unpark(const parked&) noexcept;  // false: it was raised meanwhile, and is posted
  void forget_stop() noexcept { state_.fetch_and(~stop_bit, std::memory_order_acq_rel); }

  alignas(8) std::atomic<std::uint64_t> state_{0};
};

/// The awaiter behind wait().
class [[nodiscard]] waiting {
 public:
  waiting(io& home, signal& at, const limit& l) : parked_(home), signal_(at), limit_(l) {}
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

/// Waits until the signal is set (and takes it back), or for the limit. A signal that is set wins over both.
/// An inline wait sleeps on the monotonic clock: after a suspended machine wakes up, it may end late, never early.
inline waiting wait(io& i, signal& s, const limit& l = limit(never)) { return {i, s, l}; }

/// To sleep is to wait for nothing.
inline task<wake> sleep(io& i, limit l) {
  signal nothing;
  const wake why = co_await wait(i, nothing, l);
  co_return why;
}

}  // namespace holdfast::runtime
