#pragma once
#include <chrono>
#include <csignal>
#include <functional>
#include <holdfast/lease.hpp>
#include <holdfast/store.hpp>
#include <optional>
#include <string>

#include "command.hpp"
#include "holding/options.hpp"
#include "holding/status.hpp"
#include "process/child.hpp"
#include "process/front.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// What happens to the command when its lock is lost, or is about to be.
struct on_lost {
  int signal = SIGTERM;  ///< that it gets; 0: none, it runs on
  std::string line{};    ///< for the shell, before that; empty: nothing

  /// "term", "kill", "SIGHUP", "ignore", "exec:LINE"; nothing: it is none of these.
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

/// Where a run takes place: in a worker behind a front. All must outlive it; the label is shown to others.
struct run_place {
  const status& told;
  caught_signals& signals;
  terminal& tty;
  front& user_sees;
  const std::string& label;
};
/// How a run ended.
struct run_end {
  worker_end of_worker{};
  std::string cause{};              ///< as the status has it
  bool ran = false;                 ///< the command, however it ended
  bool asked_to_stop = false;       ///< by a signal, before or while the command ran, or because the front is gone
  boot_clock::duration held_for{};  ///< 0: nothing was held
};
/// From the first look at the lock to the end of the command. No other thread may run when it begins; and none does
/// when it has ended, so one may follow another.
[[nodiscard]] run_end run_once(const run_options&, const run_place&);
/// Forks the worker that does this, before there is any thread. Returns the exit code.
[[nodiscard]] int in_a_worker(const run_options&, const std::function<worker_end(const run_place&)>& work);

/// What a command needs that runs another one under a lock: -c, --max-hold, --on-lost, --grace and --env-prefix.
[[nodiscard]] option_rows supervision_rows(run_options&);
/// The command behind "--", or the line of -c. What is wrong with it; empty: nothing.
[[nodiscard]] std::string take_command(run_options&, const user_command& after_dashes);
/// --json: the events instead of words, on stderr, since stdout belongs to the command.
[[nodiscard]] option_spec json_row(hold_options&);

/// See command.hpp.
[[nodiscard]] command_spec describe_run(const user_command& after_dashes);
/// To the end. Returns the exit code.
[[nodiscard]] int run(const run_options&);

/// What the command finds in its environment. All are set or taken away, so that those of a run around us are not
/// mistaken for ours.
[[nodiscard]] environment variables(const run_options&, const store&, const lease&);

/// Says whether the lock could be had now, who holds it, and what would be run; takes nothing. Returns what a run with
/// -n would exit with if its command did nothing.
[[nodiscard]] int dry_run(const run_options&);

}  // namespace holdfast::cli
