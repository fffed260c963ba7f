#pragma once
#include <chrono>
#include <stop_token>
#include <utility>

namespace holdfast {

/// CLOCK_BOOTTIME: counts the time a suspended machine sleeps, and never jumps.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
  [[nodiscard]] static time_point now() noexcept;
};

/// How long a caller waits: until an instant, until asked to stop, or whichever comes first. Made by within() and
/// until(); it has no default, so that `{}` always means options.
///
/// If the limit of an acquisition ends before the store has answered, nothing is acquired, and what the request may
/// still acquire is released in the background. That is an error only if the store reported one (a refused connection,
/// a replica, a full disk), or if it has answered no call through this store object for open_options::patience.
class limit {
 public:
  explicit limit(boot_clock::time_point at, std::stop_token stop = {}) noexcept : at_(at), stop_(std::move(stop)) {}
  [[nodiscard]] boot_clock::time_point at() const noexcept { return at_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

 private:
  boot_clock::time_point at_;
  std::stop_token stop_;
};

/// within(2s), within(2s, token). Saturates: within(hours::max()) is for ever. within(0s) does not wait for another
/// holder; it waits for an answer of the store, for open_options::patience at most.
template <class Rep, class Period>
[[nodiscard]] limit within(std::chrono::duration<Rep, Period> wait, std::stop_token stop = {}) noexcept {
  using seconds = std::chrono::duration<double>;
  const boot_clock::time_point now = boot_clock::now();
  if (seconds(wait) >= seconds(boot_clock::time_point::max() - now)) {
    return limit(boot_clock::time_point::max(), std::move(stop));
  }
  if (wait <= wait.zero()) return limit(now, std::move(stop));
  return limit(now + std::chrono::ceil<boot_clock::duration>(wait), std::move(stop));
}

[[nodiscard]] inline limit until(std::stop_token stop) noexcept {
  return limit(boot_clock::time_point::max(), std::move(stop));
}

namespace detail {

/// try_lock_until for any clock: never false before `when`, even if that clock is adjusted meanwhile.
template <class Clock, class Duration, class TryLock>
bool retry_until(const std::chrono::time_point<Clock, Duration>& when, TryLock try_lock) {
  for (;;) {
    const auto now = Clock::now();
    if (try_lock(when <= now ? within(std::chrono::seconds(0)) : within(when - now))) return true;
    if (Clock::now() >= when) return false;
  }
}

}  // namespace detail

}  // namespace holdfast
