#pragma once
#include <functional>
#include <holdfast/lease.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "process/child.hpp"
#include "process/environment.hpp"
#include "process/flag.hpp"
#include "process/front.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"
#include "run/deadline.hpp"
#include "run/on_lost.hpp"
#include "run/teller.hpp"

namespace holdfast::cli {

/// Watches over a command that runs, and over the lock that it runs under: until it has ended, and all that it left
/// behind. It is asked to stop early enough, and made to before the lock can be another's.
class supervision {
 public:
  /// What the run has. All must outlive it.
  struct parts {
    const on_lost& lost;
    const lease& held;
    const deadline& due;
    const teller& tell;
    child& command;
    front& user_sees;
    caught_signals& signals;
    terminal& tty;
    const environment& variables;  ///< of the command
    std::string lost_why;          ///< the variable that the line of --on-lost finds, besides
  };
  explicit supervision(parts);

  void to_the_end();

  [[nodiscard]] bool ended_in_time() const noexcept { return ended_in_time_; }
  /// "lost", "max_hold", "killed" (the front was); empty: the command was not stopped by us.
  [[nodiscard]] const std::string& stopped_for() const noexcept { return stopped_for_; }
  /// In words; empty: nothing was lost.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// The command, or what it left behind, was made to stop by us.
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  /// We got a signal that would have ended us before the command began.
  [[nodiscard]] bool asked_to_stop() const noexcept { return asked_to_stop_; }
  /// A key of the terminal that ended the command was meant for all of the job.
  [[nodiscard]] bool key_was_for_the_job() const noexcept { return pass_on_; }

 private:
  using instant = deadline::instant;
  static constexpr instant never = deadline::never;

  void wait();
  void hear_front();
  void hear_signals();
  void see_the_command();
  void mind_the_lock();
  void begin_to_stop(deadline::distance);
  void note(deadline::distance, boot_clock::duration at_most);
  void run_line(instant kill_at);
  void stop(int number, instant kill_at);
  void after_the_end();
  [[nodiscard]] bool stopped_by_terminal() const noexcept;
  void suspend(bool wants_foreground);
  void resume();

  parts of_;
  flag loss_;
  std::stop_callback<std::function<void()>> lost_;
  bool ended_ = false;
  instant next_ = never;  // when the command is to be asked to stop, or killed
  bool stopping_ = false;
  std::optional<instant> kill_at_;  // the line of --on-lost runs: when it and the command are killed
  std::string stopped_for_, why_;
  bool loss_told_ = false;
  bool not_allowed_told_ = false;
  bool ended_in_time_ = false;
  bool asked_to_stop_ = false;
  bool suspended_ = false;         // the front is asked to stand still as the command does
  bool wants_foreground_ = false;  // and that is why
  bool pass_on_ = false;
};

}  // namespace holdfast::cli
