#pragma once
#include <chrono>

#include "runtime/clock.hpp"

namespace holdfast::redis {

/// The last fence of a lock lives for a day from its grant, and whoever breaks the lock compares it: so it must outlive
/// what is held. A renewal is too frequent to see to that each time; this says which ones do.
class fence_upkeep {
 public:
  /// Asked once before each renewal.
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
