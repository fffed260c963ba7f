#pragma once
#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>

#include "holdfast/mutex.hpp"

namespace holdfast {

/// Any number of readers or one writer, in the shape of std::shared_timed_mutex (Cpp17SharedTimedLockable). A mutex of
/// the same name is one of its writers.
///
/// In order of arrival: readers that stand together enter together, and neither side starves. Each thread's acquisition
/// is a lease of its own; a reader among readers is lost alone. All readers that are in at one time have the same
/// fence: a resource that refuses lower ones must not refuse the older of two readers.
///
/// A thread that is in, in whatever way, gets would_deadlock when it locks again, without a round trip: a reader that
/// waits to become a writer waits for itself, and a second read behind a waiting writer does too.
class shared_mutex {
 public:
  shared_mutex(const store&, std::string_view name, const lock_options& = {});
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;
  ~shared_mutex();  ///< nobody may wait for it; what is held through it is released

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

  void lock_shared();
  [[nodiscard]] bool lock_shared(const std::stop_token&);
  [[nodiscard]] bool try_lock_shared();
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return lock_shared_within(within(wait));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
    return detail::retry_until(when, [this](const limit& l) { return lock_shared_within(l); });
  }
  void unlock_shared() noexcept;

  /// From writer to reader without a gap, keeping the fence; readers who are first in line come in too. There is no way
  /// up: unlock, and lock anew. Throws lock_error: lost when it was not held, or what the store said. In the latter
  /// case this thread still holds the lock, as a writer or as a reader; call this function again, or end the hold with
  /// unlock() or unlock_shared().
  void unlock_and_lock_shared();

  /// This thread's acquisition: its fence, deadline, lost_token. Throws lock_error(lost) when it has none.
  [[nodiscard]] const lease& current() const;

 private:
  bool lock_within(const limit&);
  bool lock_shared_within(const limit&);
  std::unique_ptr<detail::thread_leases> leases_;
};

}  // namespace holdfast
