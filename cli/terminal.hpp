#pragma once
#include <sys/types.h>

#include "descriptor.hpp"

namespace holdfast::cli {

/// The terminal that we were started from, if we are a job of our own: in a script or a pipeline others need it as
/// well, and its keys (interrupt, stop) are for all of them. They go to whoever has the foreground, and nobody else may
/// read it.
class terminal {
 public:
  terminal();
  ~terminal() { take_back(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  [[nodiscard]] bool there() const noexcept { return tty_.get() >= 0; }
  /// Our group has the foreground.
  [[nodiscard]] bool ours() const noexcept;
  /// Hands the foreground to that group, if we have it: a shell may have put us into the background.
  void give_to(pid_t group) noexcept;
  /// Takes it back, unless somebody else, such as the shell, has it by now.
  void take_back() noexcept;
  [[nodiscard]] bool given() const noexcept { return given_to_ != 0; }

 private:
  descriptor tty_;
  pid_t given_to_ = 0;
};

}  // namespace holdfast::cli
