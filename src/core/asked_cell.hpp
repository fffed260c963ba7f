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

/// A cell that is asked until it answers: a store silent for its patience is an error, and so is one that is closed.
/// The silence outlives it.
class asked_cell {
 public:
  asked_cell(std::unique_ptr<storage::cell>, runtime::span patience, silence&, std::stop_token closing) noexcept;

  /// yes or unknown. A limit that is over already bounds nothing but its stop_token.
  [[nodiscard]] task<storage::answer<storage::reading>> look(io&, limit);
  /// As storage::cell::put. An unknown is either the store's own no, with its code, and the change was not made; or
  /// unreachable, and nobody knows.
  [[nodiscard]] task<storage::answer<std::uint64_t>> put(io&, std::uint64_t seen, storage::change, limit);
  [[nodiscard]] task<runtime::wake> changed(io&, storage::reading seen, limit);

 private:
  std::unique_ptr<storage::cell> cell_;
  runtime::span patience_;
  silence* silence_;
  std::stop_token closing_;
};

}  // namespace holdfast::core
