#pragma once
#include <chrono>
#include <csignal>
#include <functional>
#include <holdfast/lease.hpp>
#include <holdfast/store.hpp>
#include <optional>
#include <string>

#include "command.hpp"
#include "hold/options.hpp"
#include "hold/status.hpp"
#include "process/child.hpp"
#include "process/signals.hpp"
#include "process/supervisor.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// What happens to the command when its lock is lost or about to be lost.
struct on_lost {
  int signal = SIGTERM;  ///< sent to the command; 0: none
  std::string line{};    ///< a shell line that runs before that; empty: none

  /// Reads "term", "kill", "SIGHUP", "ignore" or "exec:LINE". Returns nothing for other texts.
  [[nodiscard]] static std::optional<on_lost> of(const std::string& text);
};

/// `holdfast run NAME... -- CMD...`: holds the lock while the command runs.
struct run_options {
  hold_options hold{};
  user_command command{};
  std::chrono::milliseconds min_hold{0};
  std::optional<std::chrono::milliseconds> grace{};
  on_lost lost{};
  std::string env_prefix = "HOLDFAST";
  bool dry_run = false;
};

/// What a run in the worker uses. All must outlive it. The label is shown to other clients.
struct worker_context {
  const status& events;
  caught_signals& signals;
  terminal& tty;
  supervisor_proxy& supervisor;
  const std::string& label;
};
/// The result of a run.
struct run_result {
  worker_result of_worker{};
  std::string cause{};              ///< the "cause" of the event "end"
  bool ran = false;                 ///< the command was started
  bool asked_to_stop = false;       ///< a signal arrived, or the supervisor has died
  boot_clock::duration held_for{};  ///< 0: the lock was not acquired
};
/// Runs once, from acquiring the lock to the end of the command. Requires that no other thread runs, and leaves none
/// running, so it can be called again.
[[nodiscard]] run_result run_once(const run_options&, const worker_context&);
/// Forks a worker that calls `work`; requires that no other thread runs. Returns the exit code.
[[nodiscard]] int run_in_worker(const run_options&, const std::function<worker_result(const worker_context&)>& work);

/// The options of commands that run another one under a lock: -c, --max-hold, --on-lost, --grace and --env-prefix.
[[nodiscard]] option_rows command_rows(run_options&);
/// Stores the command after "--", or the line of -c. Returns an error, or an empty string.
[[nodiscard]] std::string take_command(run_options&, const user_command& after_dashes);
/// --json: events instead of messages, on stderr, since stdout belongs to the command.
[[nodiscard]] option_spec json_row(hold_options&);

/// See command.hpp.
[[nodiscard]] command_spec describe_run(const user_command& after_dashes);
/// Returns the exit code.
[[nodiscard]] int run(const run_options&);

/// The environment of the command. Each variable is set or removed, so that those of an outer run are not inherited.
[[nodiscard]] environment variables(const run_options&, const store&, const lease&);

/// Prints whether the lock is free, who holds it, and what would be run. Does not acquire it. Returns the exit code of
/// a run with -n whose command succeeds.
[[nodiscard]] int dry_run(const run_options&);

}  // namespace holdfast::cli
