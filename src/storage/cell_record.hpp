#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/cell.hpp"

namespace holdfast::storage {

/// What a store keeps of a cell, and the rule by which it changes. (On Redis the same is scripts/cell_put.lua.) Times
/// are in microseconds, on a clock that all clients of the store share.
struct cell_record {
  static constexpr std::size_t most_ids = 64;
  /// A cell is remembered for so long after its end. So a change that saw no cell at all, and is not older than that,
  /// has not been made already and forgotten.
  static constexpr std::int64_t remembered_for = 60'000'000;

  std::uint64_t version = 0;
  std::int64_t ends = 0;
  std::uint64_t number = 0;
  std::string note{};
  std::vector<owner_id> ids{};  ///< of the last changes, the newest first

  [[nodiscard]] bool there(std::int64_t now) const noexcept { return now < ends; }
  [[nodiscard]] bool forgettable(std::int64_t now) const noexcept { return now >= ends + remembered_for; }
};

/// What is to be told of a cell; an empty one has never been, or was forgotten.
[[nodiscard]] reading read_cell(const std::optional<cell_record>&, std::int64_t now);

/// What became of a change.
struct put_result {
  answer<std::uint64_t> said;  ///< as of cell::put
  bool made = false;           ///< just now: the record is to be kept
  bool tell = false;           ///< and those who wait are to be told
};
[[nodiscard]] put_result put_cell(std::optional<cell_record>&, std::uint64_t seen, const change&, std::int64_t now);

/// Whether somebody who saw this has nothing to wait for.
[[nodiscard]] bool has_changed(const std::optional<cell_record>&, const reading& seen, std::int64_t now) noexcept;

}  // namespace holdfast::storage
