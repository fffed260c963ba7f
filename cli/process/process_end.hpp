#pragma once
#include <sys/types.h>

#include "process/io.hpp"

namespace holdfast::cli {

/// The end of a process that need not be our child. It is known by a pidfd: another one that gets its number later is
/// never taken for it.
class process_end final : public ending {
 public:
  /// Throws std::system_error: it is gone, or is no process that can be watched.
  explicit process_end(pid_t);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] int fd() const noexcept override { return fd_.get(); }
  [[nodiscard]] bool over() noexcept override;
  /// 0, or errno. Signal 0 only finds out whether we may.
  [[nodiscard]] int signal(int number) const noexcept;

 private:
  const pid_t pid_;
  descriptor fd_;
};

/// The process is as good as certainly a fork of its parent, and no program of its own, such as the subshell that a
/// shell makes for $(a || b): it may be gone long before the script is.
[[nodiscard]] bool is_subshell(pid_t);

}  // namespace holdfast::cli
