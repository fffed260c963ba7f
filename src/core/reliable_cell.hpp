#pragma once
#include <cstdint>
#include <memory>
#include <stop_token>

#include "core/silence.hpp"
#include "runtime/clock.hpp"
#include "storage/cell.hpp"

namespace holdfast::core {

using runtime::io;
using runtime::task;

/// A cell whose requests are repeated until the store answers. They fail if the store is silent for its patience or is
/// closed. The silence outlives the cell.
class reliable_cell {
 public:
  reliable_cell(std::unique_ptr<storage::cell>, runtime::span patience, silence&, std::stop_token closing) noexcept;

  /// yes or unknown. If the limit has already passed, only its stop_token counts.
  [[nodiscard]] task<storage::answer<storage::reading>> look(io&, limit);
  /// Like storage::cell::put. *Unknown* is either an error that the store reported, and the change was not made; or
  /// `unreachable`, and the change may have been made.
  [[nodiscard]] task<storage::answer<std::uint64_t>> put(io&, std::uint64_t seen, storage::change, limit);
  [[nodiscard]] task<runtime::wake> changed(io&, storage::reading seen, limit);

 private:
  std::unique_ptr<storage::cell> cell_;
  runtime::span patience_;
  silence* silence_;
  std::stop_token closing_;
};

}  // namespace holdfast::core
