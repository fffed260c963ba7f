#pragma once
#include <chrono>
#include <functional>
#include <holdfast/lease.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "holding/acquisition.hpp"
#include "holding/status.hpp"
#include "process/child.hpp"
#include "process/front.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"
#include "run/run.hpp"

namespace holdfast::cli {

/// When a command is stopped whose lock has a deadline: asked `grace` and `margin` before it, killed `margin` before
/// it.
struct stopping {
  explicit stopping(const run_options&);
  std::chrono::milliseconds grace;
  std::chrono::microseconds margin;  ///< for the signal to arrive in
  [[nodiscard]] std::chrono::microseconds all() const noexcept { return grace + margin; }
};

/// The lease is renewed as long as the command runs, and not made for all of --max-hold at once.
[[nodiscard]] bool is_renewed(const run_options&) noexcept;

/// What is wrong with the options together, whatever the store; empty: nothing.
[[nodiscard]] std::string contradiction(const run_options&);
/// What is wrong with --ttl and --grace together, on a store that needs a ttl; empty: nothing.
[[nodiscard]] std::string too_much_grace(const run_options&);

/// When the command has to stop for its lock's sake, and why.
class deadline {
 public:
  using instant = boot_clock::time_point;
  static constexpr instant never = instant::max();

  /// Of a lock that was taken just now. All must outlive it.
  deadline(const run_options&, const lease&, onlooker&);

  enum class distance {
    far,
    near,  ///< the command has to be asked now
    over,  ///< the lock is lost
  };
  [[nodiscard]] distance look() const;
  /// Of one that is far: when it will be near.
  [[nodiscard]] instant near_at() const;
  /// When a command that is asked now is killed.
  [[nodiscard]] instant kill_at(distance) const;
  /// When what the command has left behind is killed.
  [[nodiscard]] instant kill_leftovers_at() const;

  struct reason {
    bool max_hold;
    std::string words;
  };
  [[nodiscard]] reason why(distance, boot_clock::duration at_most) const;
  [[nodiscard]] instant held_since() const noexcept { return held_since_; }

 private:
  const run_options& options_;
  const lease& lease_;
  onlooker& onlooker_;
  const stopping before_;
  const instant held_since_ = boot_clock::now();
};

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
