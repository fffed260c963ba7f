#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"

namespace holdfast::runtime {

/// Decides which thread runs a loop: the loop's own thread, or a blocking caller that has work for it. A caller that
/// runs the loop itself saves two thread switches. After a caller has left, the own thread stays idle for a short
/// while, because callers tend to come back.
class loop_ownership {
 public:
  /// Result of acquire().
  enum class acquired {
    now,        ///< the caller runs the loop until release()
    soon,       ///< the caller wakes the loop's own thread, and runs the loop when wait() returns
    delegated,  ///< another thread runs the loop and does this caller's work; end_delegation() follows
  };
  [[nodiscard]] acquired acquire() noexcept;
  void wait() noexcept;
  /// `more`: work is left that cannot wait for the next caller.
  void release(bool more) noexcept;
  void end_delegation() noexcept {
    state_.with([](state& s) { --s.delegated; });
  }

  /// Called by a thread that posts work. Returns true if no thread ran the loop; its own thread then takes over.
  bool notify() noexcept;

  /// True if a caller waits for the own thread to yield.
  [[nodiscard]] bool is_wanted() const noexcept { return wanted_; }
  /// Called by the own thread. Passes the loop to the waiting caller, and returns when there is work that no caller
  /// does.
  void yield() noexcept;

 private:
  enum class owner { own_thread, none, caller };
  struct state {
    owner is = owner::own_thread;
    unsigned delegated = 0;    // callers whose work another thread does
    bool notified = false;     // there is work, and no thread does it
    std::uint64_t number = 0;  // counts the callers that have run the loop
    instant released{};        // when the last of them left
    bool idle = false;         // the own thread sleeps until it is notified
  };
  guarded<state> state_;
  std::atomic<bool> wanted_{false};   // at most one caller waits
  std::atomic<bool> granted_{false};  // set for that caller
  signal notified_;
};

}  // namespace holdfast::runtime
