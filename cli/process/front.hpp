#pragma once
#include <sys/types.h>

#include <functional>
#include <utility>

#include "process/descriptor.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// How a worker ended.
struct worker_end {
  int code = 0;
  int died_of = 0;                   ///< a signal: the front dies of it, too
  bool key_was_for_the_job = false;  ///< and so does all of its job
};

/// The process that the user sees, as its worker sees it. It has no threads and no lock: it forwards signals, stops and
/// continues with the job that it is, and ends as the worker ended. Whichever of the two is killed, the other ends the
/// command and all that came of it.
class front {
 public:
  explicit front(descriptor link) noexcept : link_(std::move(link)) {}

  /// The command is about to begin. Waits while the front is stopped. False: it is gone, or a signal ends us.
  [[nodiscard]] bool may_start(pid_t command, caught_signals&);
  void command_ended();
  /// The command was stopped: asks the front to stop, for the shell to see. hear() gives the answer.
  void stop();

  enum class answer {
    none,
    continued,    ///< it was stopped, and is no more
    not_stopped,  ///< nobody could continue it, so the kernel has not stopped it
  };
  [[nodiscard]] answer hear();
  [[nodiscard]] bool gone() const noexcept { return gone_; }  ///< as of the last hear()
  void end(const worker_end&);
  /// Readable when there is something to hear.
  [[nodiscard]] int fd() const noexcept { return link_.get(); }

 private:
  descriptor link_;
  bool gone_ = false;
};

/// Forks, before there is any thread. The worker, in a group of its own, does its work, and returns the code; so does
/// the front when the worker has ended. If the worker was killed, the front ends all that came of it, and says what to
/// exit with. Throws std::system_error.
[[nodiscard]] int behind_a_front(caught_signals&, terminal&, const std::function<worker_end(front&)>& work,
                                 const std::function<int(int by_signal)>& killed);

}  // namespace holdfast::cli
