#pragma once
#include <sys/types.h>

#include "process/io.hpp"

namespace holdfast::cli {

/// A process that need not be our child. A pidfd identifies it, so another process that reuses its pid is never
/// mistaken for it. over() is true when it has ended.
class watched_process final : public end_condition {
 public:
  /// Throws std::system_error if the process has ended or cannot be watched.
  explicit watched_process(pid_t);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] int fd() const noexcept override { return fd_.get(); }
  [[nodiscard]] bool over() noexcept override;
  /// Returns 0 or an errno. Signal 0 checks for permission.
  [[nodiscard]] int signal(int number) const noexcept;

 private:
  const pid_t pid_;
  descriptor fd_;
};

/// Returns whether the process is almost certainly a fork of its parent that has not called exec, such as the subshell
/// for $(a b). It may end long before the script does.
[[nodiscard]] bool is_subshell(pid_t);

}  // namespace holdfast::cli
