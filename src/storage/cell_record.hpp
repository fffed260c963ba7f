#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/cell.hpp"

namespace holdfast::storage {

/// What a store keeps of a cell, and the rule by which it changes; on Redis, scripts/cell_put.lua. Times are in
/// microseconds, on a clock that all clients of the store share.
struct cell_record {
  static constexpr std::size_t most_ids = 64;
  /// A cell is remembered for this long after its end. So a change that saw no cell, and is not older than this, was
  /// not made already and then forgotten.
  static constexpr std::int64_t remembered_for = 60'000'000;

  std::uint64_t version = 0;
  std::int64_t ends = 0;
  std::uint64_t number = 0;
  std::string note{};
  std::vector<owner_id> ids{};  ///< of the last changes, newest first

  [[nodiscard]] bool there(std::int64_t now) const noexcept { return now < ends; }
  [[nodiscard]] bool forgettable(std::int64_t now) const noexcept { return now >= ends + remembered_for; }
};

/// Reads a cell; an empty record means that it never existed or was forgotten.
[[nodiscard]] reading read_cell(const std::optional<cell_record>&, std::int64_t now);

/// The result of a change.
struct put_result {
  answer<std::uint64_t> said;  ///< as cell::put() returns it
  bool made = false;           ///< the record has changed and must be stored
  bool tell = false;           ///< waiters must be notified
};
[[nodiscard]] put_result put_cell(std::optional<cell_record>&, std::uint64_t seen, const change&, std::int64_t now);

/// Returns true if the cell differs from what a client saw, so that it need not wait.
[[nodiscard]] bool has_changed(const std::optional<cell_record>&, const reading& seen, std::int64_t now) noexcept;

}  // namespace holdfast::storage
