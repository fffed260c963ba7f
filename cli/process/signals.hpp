#pragma once
#include <csignal>

#include "process/io.hpp"

namespace holdfast::cli {

/// Blocks the signals that concern the program and reads them from a descriptor instead.
class caught_signals {
 public:
  caught_signals();  ///< throws std::system_error
  /// The signal mask before this object was created.
  [[nodiscard]] const sigset_t& before() const noexcept { return before_; }
  /// Returns whether the process that started us (nohup, or a shell for a background job) ignores the signal. A blocked
  /// signal is queued even if it is ignored.
  [[nodiscard]] bool ignored(int number) const noexcept { return ::sigismember(&ignored_, number) == 1; }
  /// Stops the process like an uncaught SIGTSTP. The kernel does not stop it if no shell could continue it, for example
  /// if it leads the session in a container.
  void stop_process() const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Returns the next signal, or 0.
  [[nodiscard]] int next() const noexcept;
  /// Returns the last terminating signal so far, or 0. Only for use while no command runs: other signals are dropped,
  /// and SIGTSTP stops us.
  int asked_to_stop() noexcept;
  /// Called in the worker: its supervisor handles SIGTSTP.
  void leave_stopping_to_supervisor() noexcept { stops_ = false; }

 private:
  sigset_t before_{}, ignored_{};
  descriptor fd_;
  int terminated_by_ = 0;
  bool stops_ = true;
};

[[nodiscard]] bool is_terminating(int number) noexcept;
/// Ends the process by this signal, so that its parent sees the right wait status.
void die_by_signal(int number) noexcept;

}  // namespace holdfast::cli
