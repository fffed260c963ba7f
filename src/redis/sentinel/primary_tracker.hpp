#pragma once
#include <cstdint>

#include "net/url.hpp"
#include "runtime/clock.hpp"

namespace holdfast::redis {

/// Which server is the primary, from what its sentinels announce. They number their changes in epochs; the highest
/// epoch counts, so that an outdated sentinel leads no client back to an old primary. No I/O.
class primary_tracker {
 public:
  struct announcement {
    net::endpoint at;
    std::int64_t epoch = 0;
    /// A sentinel of this epoch has chosen the server, and the server itself says that it is a primary, but no sentinel
    /// announces it yet.
    bool promoted = false;
  };

  /// An announcement that no sentinel repeats counts for this long. Later the sentinels may have restarted their count.
  explicit primary_tracker(runtime::span lasts) noexcept : lasts_(lasts) {}

  /// Returns true if the primary has changed.
  [[nodiscard]] bool update(announcement, runtime::instant now);
  /// A server cannot be used. Returns true if it was only promoted; then the next announcement counts.
  [[nodiscard]] bool doubt(const net::endpoint&) noexcept;
  /// The host is empty if there was no announcement.
  [[nodiscard]] const net::endpoint& at() const noexcept { return known_.at; }

 private:
  const runtime::span lasts_;
  announcement known_{.at = {}, .epoch = -1};
  runtime::instant confirmed_{};
};

}  // namespace holdfast::redis
