#pragma once
#include <chrono>

#include "runtime/clock.hpp"

namespace holdfast::redis {

/// Decides which renewals also extend the fence counter of a lock. It lives for a day from the grant and must outlive
/// the lease, because a break compares it; extending it with every renewal would be wasteful.
class fence_upkeep {
 public:
  /// Call once before each renewal.
  [[nodiscard]] bool is_due(runtime::instant now, std::chrono::milliseconds ttl) noexcept {
    using namespace std::chrono_literals;
    const bool first = next_ == runtime::instant();
    const bool due = ttl > 12h || (!first && now >= next_);
    if (first || due) next_ = runtime::later(now, 6h);
    return due;
  }

 private:
  runtime::instant next_{};
};

}  // namespace holdfast::redis
