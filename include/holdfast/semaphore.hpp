#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"

namespace holdfast {

namespace detail {
class permits;
}

/// At most so many permits at a time, over all processes that name it, in the shape of std::counting_semaphore. Not
/// bound to threads: one may acquire, another release.
///
/// In order of arrival: who wants many is not overtaken by those who want few. The permits of a process that died come
/// back after a ttl at most. While it is in use, all must agree on the number (errc::foreign if not); resize() changes
/// it. A lease's fence is only a number here: several hold at once.
class semaphore {
 public:
  static constexpr std::ptrdiff_t most = 1'000'000;

  /// Throws lock_error(bad_option) unless 1 <= permits <= most.
  semaphore(const store&, std::string_view name, std::ptrdiff_t permits, const lock_options& = {});
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;
  ~semaphore();  ///< nobody may wait for it; what was acquired through it is released

  void acquire();                    ///< one; throws lock_error when the store fails
  [[nodiscard]] bool try_acquire();  ///< never waits for other holders; for the rest see mutex::try_lock()
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
    return acquire_within(within(wait));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
    return detail::retry_until(when, [this](const limit& l) { return acquire_within(l); });
  }
  /// Gives back so many of those that acquire() got here, the oldest first. More than there are: all, and the observer
  /// is told.
  void release(std::ptrdiff_t update = 1) noexcept;

  /// k at once, as a lease of its own with its own deadline and loss. Throws lock_error(bad_option) unless 1 <= k and k
  /// is not more than there are.
  [[nodiscard]] lease take(std::ptrdiff_t k = 1);
  /// Returns an empty optional if it was not acquired within the limit, or the limit's token was stopped; see limit.
  [[nodiscard]] std::optional<lease> try_take(const limit&, std::ptrdiff_t k = 1);

  /// From now on there are so many, here and in the store; what is held stays held. Others who name it have to resize,
  /// too, or get errc::foreign.
  void resize(std::ptrdiff_t permits);
  [[nodiscard]] std::ptrdiff_t size() const noexcept;  ///< as this object knows it

 private:
  bool acquire_within(const limit&);
  std::unique_ptr<detail::permits> permits_;
};

}  // namespace holdfast
