#pragma once
#include <chrono>
#include <functional>
#include <holdfast/lease.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "hold/acquisition.hpp"
#include "hold/status.hpp"
#include "process/child.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/supervisor.hpp"
#include "process/terminal.hpp"
#include "run/run.hpp"

namespace holdfast::cli {

/// How long before the lease's deadline the command is stopped: it gets the signal `grace` plus `margin` before it, and
/// SIGKILL `margin` before it.
struct stop_times {
  explicit stop_times(const run_options&);
  std::chrono::milliseconds grace;
  std::chrono::microseconds margin;  ///< for the delivery of SIGKILL
  [[nodiscard]] std::chrono::microseconds all() const noexcept { return grace + margin; }
};

/// True if the lease is renewed while the command runs, and false if it is acquired for all of --max-hold.
[[nodiscard]] bool is_renewed(const run_options&) noexcept;

/// Returns why the options cannot be combined on any store; empty if they can.
[[nodiscard]] std::string contradiction(const run_options&);
/// Returns why --ttl and --grace cannot be combined on a store with leases; empty if they can.
[[nodiscard]] std::string grace_error(const run_options&);

/// When the command must stop because its lock ends, and why.
class stop_schedule {
 public:
  using instant = boot_clock::time_point;
  static constexpr instant never = instant::max();

  /// Starts with the acquisition of the lock. All arguments must outlive it.
  stop_schedule(const run_options&, const lease&, event_recorder&);

  enum class phase {
    held,
    expiring,  ///< the command must be signalled now
    lost,      ///< the lock is lost
  };
  [[nodiscard]] phase look() const;
  /// When a held lock will be expiring.
  [[nodiscard]] instant expiring_at() const;
  /// When to kill a command that is signalled now.
  [[nodiscard]] instant kill_at(phase) const;
  /// When to kill processes that the command left behind.
  [[nodiscard]] instant kill_leftovers_at() const;

  struct reason {
    bool max_hold;
    std::string words;
  };
  [[nodiscard]] reason why(phase, boot_clock::duration at_most) const;
  [[nodiscard]] instant held_since() const noexcept { return held_since_; }

 private:
  const run_options& options_;
  const lease& lease_;
  event_recorder& recorder_;
  const stop_times before_;
  const instant held_since_ = boot_clock::now();
};

/// Watches a running command and its lock until the command and its leftovers have ended. Stops the command before the
/// lock can pass to another client.
class command_monitor {
 public:
  /// All must outlive the monitor.
  struct parts {
    const on_lost& lost;
    const lease& held;
    const stop_schedule& due;
    const reporter& report;
    child& command;
    supervisor_proxy& supervisor;
    caught_signals& signals;
    terminal& tty;
    const environment& variables;  ///< of the command
    std::string lost_why;          ///< the variable with the reason, for the hook of --on-lost
  };
  explicit command_monitor(parts);

  void run();

  [[nodiscard]] bool ended_in_time() const noexcept { return ended_in_time_; }
  /// "lost", "max_hold" or "killed" (the supervisor was); empty if we did not stop the command.
  [[nodiscard]] const std::string& stopped_for() const noexcept { return stopped_for_; }
  /// The reason; empty if nothing was lost.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// True if we stopped the command or its leftovers.
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  /// True if a terminating signal arrived.
  [[nodiscard]] bool asked_to_stop() const noexcept { return asked_to_stop_; }
  /// True if the terminal key that ended the command was meant for the whole job.
  [[nodiscard]] bool key_was_for_the_job() const noexcept { return pass_on_; }

 private:
  using instant = stop_schedule::instant;
  static constexpr instant never = stop_schedule::never;

  void wait();
  void read_supervisor();
  void handle_signals();
  void check_command();
  void check_lock();
  void begin_stop(stop_schedule::phase);
  void report_end(stop_schedule::phase, boot_clock::duration at_most);
  void start_hook(instant kill_at);
  void stop(int number, instant kill_at);
  void handle_exit();
  [[nodiscard]] bool stopped_by_terminal() const noexcept;
  void suspend(bool wants_foreground);
  void resume();

  parts parts_;
  flag loss_;
  std::stop_callback<std::function<void()>> lost_;
  bool ended_ = false;
  instant next_ = never;  // when to signal or kill the command
  bool stopping_ = false;
  std::optional<instant> kill_at_;  // set while the hook of --on-lost runs: when to kill both
  std::string stopped_for_, why_;
  bool loss_reported_ = false;
  bool not_allowed_reported_ = false;
  bool ended_in_time_ = false;
  bool asked_to_stop_ = false;
  bool suspended_ = false;         // the supervisor was asked to suspend itself as well
  bool wants_foreground_ = false;  // the reason for suspended_
  bool pass_on_ = false;
};

}  // namespace holdfast::cli
