#pragma once
#include <sys/types.h>

#include "process/io.hpp"

namespace holdfast::cli {

/// The terminal that we were started from. Its keys (interrupt, stop) go to whoever has the foreground, and nobody else
/// may read it. A job of its own hands it to its command at once; in a script or a pipeline others need it as well, so
/// the command gets it only when it turns out to want it.
class terminal {
 public:
  terminal();
  ~terminal() { take_back(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  [[nodiscard]] bool there() const noexcept { return tty_.get() >= 0; }
  /// Nobody else of this job needs it.
  [[nodiscard]] bool for_us_alone() const noexcept { return alone_; }
  /// Our group has the foreground; that of the process that made this.
  [[nodiscard]] bool ours() const noexcept;
  /// Hands the foreground to that group, if we have it: a shell may have put us into the background.
  void give_to(pid_t group) noexcept;
  /// Takes it back, unless somebody else, such as the shell, has it by now.
  void take_back() noexcept;
  /// The same, where another process of ours has given it to that group.
  void take_back_from(pid_t group) noexcept;
  [[nodiscard]] bool given() const noexcept { return given_to_ != 0; }

 private:
  descriptor tty_;
  pid_t group_;
  bool alone_;
  pid_t given_to_ = 0;
};

}  // namespace holdfast::cli
