#pragma once
#include <functional>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "hold/acquisition.hpp"
#include "hold/options.hpp"
#include "hold/status.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// Holds a lock without running a command, on behalf of a script or another process. Call acquire(), report_acquired(),
/// wait() and release(), in this order.
class holder {
 public:
  /// The lock is held until the end condition is met or a signal arrives. All arguments must outlive this. The label is
  /// shown to other clients.
  holder(const hold_options&, const status&, end_condition& until, const std::string& label);

  /// Returns -1 if the lock is held. Otherwise everything was reported, and the value is the exit code.
  int acquire();
  /// Returns false if the event could not be written. Release with cause::not_reported then.
  bool report_acquired();

  enum class cause {
    not_reported,  ///< report_acquired() returned false
    over,          ///< the end condition is true
    signal,        ///< a terminating signal
    extra_ready,   ///< `extra_fd` is readable
    lost,
  };
  [[nodiscard]] cause wait(int extra_fd = -1);
  /// Releases the lock, reports it, and returns the exit code: 0, 70 (not_reported), 79 (lost), 80 (uncertain), or 128
  /// plus the signal.
  int release(cause);
  /// After a loss: waits until the store no longer lists us, for at most two seconds, or until a signal arrives, so
  /// that we can still answer requests about the lost lock. Calls `on_ready` when `extra_fd` is readable and returns if
  /// that returns true. Closes the store. Throws std::system_error.
  void linger(int extra_fd, const std::function<bool()>& on_ready);
  [[nodiscard]] const lease& held() const noexcept { return held_lock_.as_lease(); }

 private:
  int report_loss();

  const hold_options& options_;
  const status& status_;
  const reporter report_;
  end_condition& until_;
  const std::string label_;
  caught_signals signals_;
  const std::shared_ptr<event_recorder> recorder_;
  std::optional<store> store_;
  std::optional<acquisition> acquisition_;
  held_lock held_lock_;
  flag loss_;
  std::optional<std::stop_callback<std::function<void()>>> lost_;
  boot_clock::time_point held_since_{};
  int report_errno_ = 0;  // the errno of the failed write
};

/// `holdfast hold NAME...`: holds a lock until stdin ends or a signal arrives, and writes events to stdout. For scripts
/// in any language that need a lock. See command.hpp.
[[nodiscard]] command_spec describe_hold(const user_command& after_dashes);

}  // namespace holdfast::cli
