#pragma once
#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>

#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"

namespace holdfast {

namespace detail {
class thread_leases;
}

/// A lock in the shape of std::timed_mutex (Cpp17TimedLockable); any number of threads may share one object.
///
/// Each lock() is an acquisition of the calling thread, and unlock() ends that thread's own: a thread whose lease was
/// lost, and which unlocks late, never frees the lock of another that took it meanwhile. (A thread that has none ends
/// the oldest, so that a unique_lock may be moved to another thread. If there is none, the observer gets a warning.)
/// Locking twice on one thread throws would_deadlock; try_lock is then false.
class mutex {
 public:
  mutex(const store&, std::string_view name, const lock_options& = {});
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex();  ///< nobody may wait for it; what is held through it is released

  void lock();                                      ///< throws lock_error when the store fails
  [[nodiscard]] bool lock(const std::stop_token&);  ///< false: asked to stop
  /// Never waits for another holder; waits for an answer of the store, for its patience at most.
  [[nodiscard]] bool try_lock();
  /// False: not acquired within the limit, also if the store has not answered by then. Throws lock_error when the store
  /// fails; see limit. So do the other functions with a limit.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return lock_within(within(wait));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
    return detail::retry_until(when, [this](const limit& l) { return lock_within(l); });
  }
  void unlock() noexcept;

  /// This thread's acquisition: its fence, deadline, lost_token. Throws lock_error(lost) when it has none.
  [[nodiscard]] const lease& current() const;

 private:
  bool lock_within(const limit&);
  std::unique_ptr<detail::thread_leases> leases_;
};

}  // namespace holdfast
