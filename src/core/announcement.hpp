#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "core/holding.hpp"
#include "core/reliable_cell.hpp"
#include "runtime/fork.hpp"
#include "runtime/signal.hpp"

namespace holdfast::core {

/// A holder of a lock publishes its fence and its label in a cell, for example the leader of an election.
class announcement {
 public:
  /// Thread-safe. Has no effect in a fork.
  void withdraw() noexcept;
  [[nodiscard]] bool withdrawn() const noexcept { return withdrawn_; }
  [[nodiscard]] runtime::signal& called() noexcept { return called_; }  ///< wakes the task that announces
  [[nodiscard]] runtime::signal& begun() noexcept {
    return begun_;
  }  ///< the first announcement has succeeded or failed

 private:
  const unsigned generation_ = runtime::fork_generation();
  std::atomic<bool> withdrawn_{false};
  runtime::signal called_, begun_;
};

/// Announces the holder until the lease ends or the announcement is withdrawn, and then removes it. An announcement
/// expires with the lease unless it is repeated. It overwrites only those with a lower fence, so that the number in the
/// cell only grows, however long a client that announces was paused.
[[nodiscard]] task<void> announce(io& loop, reliable_cell, std::shared_ptr<lease_state>, std::string label,
                                  std::shared_ptr<announcement>);

}  // namespace holdfast::core
