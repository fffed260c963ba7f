#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "core/asked_cell.hpp"
#include "core/hold.hpp"
#include "runtime/fork.hpp"
#include "runtime/signal.hpp"

namespace holdfast::core {

/// What the holder of a lock says of itself, where all can see it: its fence and its label, in a cell.
class announcement {
 public:
  /// From any thread, also in a fork, where it does nothing.
  void withdraw() noexcept;
  [[nodiscard]] bool withdrawn() const noexcept { return withdrawn_; }
  [[nodiscard]] runtime::signal& called() noexcept { return called_; }  ///< of whoever announces
  [[nodiscard]] runtime::signal& begun() noexcept { return begun_; }    ///< it was said for the first time, or failed

 private:
  const unsigned generation_ = runtime::fork_generation();
  std::atomic<bool> withdrawn_{false};
  runtime::signal called_, begun_;
};

/// Says it for as long as the lease is held and nothing is withdrawn, and then takes it back. What it says ends with
/// the lease unless it says it again. It overwrites only what was said before under a lower fence, so that the number
/// in the cell only grows, however long any of those who announce stood still.
[[nodiscard]] task<void> announce(io& loop, asked_cell, std::shared_ptr<tenancy>, std::string label,
                                  std::shared_ptr<announcement>);

}  // namespace holdfast::core
