#pragma once
#include <sys/types.h>

#include "process/io.hpp"

namespace holdfast::cli {

/// The controlling terminal. Its keys (interrupt, stop) go to the foreground process group, and no other group may read
/// from it. If we are a job of our own, the command gets the foreground at once. In a script or a pipeline other
/// processes may need the terminal, so the command gets it only when it tries to use it.
class terminal {
 public:
  terminal();
  ~terminal() { take_back(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  [[nodiscard]] bool there() const noexcept { return tty_.get() >= 0; }
  /// No other process of this job needs it.
  [[nodiscard]] bool for_us_alone() const noexcept { return alone_; }
  /// True if the process group that created this object is in the foreground.
  [[nodiscard]] bool ours() const noexcept;
  /// Moves the group to the foreground, if we are there: a shell may have put us into the background.
  void give_to(pid_t group) noexcept;
  /// Moves us back to the foreground, unless another group, such as the shell's, is there by now.
  void take_back() noexcept;
  /// Like take_back(), if another process of ours moved the group to the foreground.
  void take_back_from(pid_t group) noexcept;
  [[nodiscard]] bool given() const noexcept { return given_to_ != 0; }

 private:
  descriptor tty_;
  pid_t group_;
  bool alone_;
  pid_t given_to_ = 0;
};

}  // namespace holdfast::cli
