#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/asked_cell.hpp"

namespace holdfast::core {

/// Who leads, as announcements tell.
struct leading {
  std::uint64_t fence = 0;
  std::string label{};
  friend bool operator==(const leading&, const leading&) = default;
};

/// Follows the announcements of one cell. Fences only grow: what is older than what was seen counts as nobody.
class leader_watch {
 public:
  explicit leader_watch(asked_cell c) noexcept : cell_(std::move(c)) {}

  /// yes: current() has changed; no: not within the limit, or we were asked to stop. A limit that is over is one look.
  [[nodiscard]] task<storage::answer<storage::done>> next(io&, limit);
  [[nodiscard]] const std::optional<leading>& current() const noexcept { return current_; }

 private:
  [[nodiscard]] bool take(const storage::reading&);
  asked_cell cell_;
  std::optional<storage::reading> seen_;
  std::uint64_t highest_ = 0;
  std::optional<leading> current_;
};

}  // namespace holdfast::core
