#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "holdfast/limit.hpp"
#include "holdfast/store.hpp"

namespace holdfast {

namespace detail {
class counting;
}

struct latch_options {
  /// The store remembers the latch for so long after the last who counted; 10 ms to a year. Then it is as new.
  std::chrono::milliseconds ttl{std::chrono::hours(24)};
};

/// Counts down to zero once, over all processes that name it, in the shape of std::latch; who waits is woken by the one
/// who counts it to zero. Whoever comes later passes. All who name it must agree on the number (errc::foreign if not).
/// It has nothing to do with a lock of that name. All members may be called from any thread.
class latch {
 public:
  /// Asks nobody. Throws lock_error(bad_option) unless expected is 1 at least.
  latch(const store&, std::string_view name, std::ptrdiff_t expected, const latch_options& = {});
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;
  ~latch();  ///< nobody may wait for it

  /// Counts exactly once, also where replies get lost. Throws lock_error: bad_option, and nothing is counted, when n is
  /// less than 1 or more than are left; unreachable when nobody knows whether it was counted, and says so.
  void count_down(std::ptrdiff_t n = 1);
  [[nodiscard]] bool try_wait() const;  ///< one look: whether it is at zero
  void wait() const;                    ///< throws lock_error when the store fails
  /// False: it was not at zero within the limit, or the limit's token asked us to stop.
  [[nodiscard]] bool wait(const limit&) const;
  void arrive_and_wait(std::ptrdiff_t n = 1);

 private:
  std::unique_ptr<detail::counting> counting_;
};

}  // namespace holdfast
