#pragma once
#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>

#include "holdfast/mutex.hpp"

namespace holdfast {

/// As mutex, but the thread that holds it may lock it again, at no round trip; it is free when it was unlocked as
/// often.
///
/// Bound to the thread: unlock() by a thread that does not hold it does nothing, and the observer is told. To lock
/// again what was lost meanwhile throws lock_error(lost): the outer section is not protected any more. Where work moves
/// from thread to thread, share a lease instead: std::make_shared<holdfast::lease>(store.acquire(name)).
class recursive_mutex {
 public:
  recursive_mutex(const store&, std::string_view name, const lock_options& = {});
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;
  ~recursive_mutex();  ///< nobody may wait for it; what is held through it is released

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
