#pragma once
#include <sys/types.h>

#include "descriptor.hpp"

namespace holdfast::cli {

/// The terminal that we were started from, if we are in its foreground, and alone there: in a script or a pipeline
/// others need it as well, and its keys (interrupt, stop) are for all of them.
class terminal {
 public:
  terminal();
  ~terminal() { take_back(); }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  void give_to(pid_t group) noexcept;
  void take_back() noexcept;
  [[nodiscard]] bool given() const noexcept { return given_; }

 private:
  descriptor tty_;
  bool given_ = false;
};

}  // namespace holdfast::cli
