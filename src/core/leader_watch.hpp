#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/reliable_cell.hpp"

namespace holdfast::core {

/// The leader, according to the announcements.
struct leading {
  std::uint64_t fence = 0;
  std::string label{};
  friend bool operator==(const leading&, const leading&) = default;
};

/// Follows the announcements in one cell. Fences only grow: an announcement that is older than the last one seen is
/// ignored, as if there were no leader.
class leader_watch {
 public:
  explicit leader_watch(reliable_cell c) noexcept : cell_(std::move(c)) {}

  /// yes: current() has changed; no: not within the limit, or the stop_token was triggered. A limit that has passed
  /// allows one look.
  [[nodiscard]] task<storage::answer<storage::done>> next(io&, limit);
  [[nodiscard]] const std::optional<leading>& current() const noexcept { return current_; }

 private:
  [[nodiscard]] bool take(const storage::reading&);
  reliable_cell cell_;
  std::optional<storage::reading> seen_;
  std::uint64_t highest_ = 0;
  std::optional<leading> current_;
};

}  // namespace holdfast::core
