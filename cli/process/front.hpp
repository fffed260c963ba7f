#pragma once
#include <sys/types.h>

#include <functional>
#include <utility>
#include <vector>

#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// What a front and its worker say to each other.
struct front_message {
  enum class kind : int {
    // of the worker
    may_start,  ///< number: the command
    command_ended,
    stop,
    die,               ///< number: of what
    die_with_the_job,  ///< number: of what
    // of the front
    start,
    continued,
    not_stopped,
  };
  kind what{};
  int number = 0;
};

/// A pair of ends; neither survives exec. Throws std::system_error.
struct front_link {
  descriptor of_front, of_worker;
};
[[nodiscard]] front_link make_front_link();

/// To one that is gone: nothing happens.
void send(const descriptor& to, front_message::kind what, int number = 0) noexcept;
enum class received { message, nothing, end };
/// Does not wait.
[[nodiscard]] received receive(const descriptor& from, front_message& into) noexcept;

/// What the front does, from the fork to the end of its worker. See front.hpp.
class forwarding {
 public:
  /// `not_ours`: the children that we had before.
  forwarding(caught_signals& signals, terminal& tty, pid_t worker, descriptor link, std::vector<pid_t> not_ours)
      : signals_(signals), tty_(tty), worker_(worker), link_(std::move(link)), not_ours_(std::move(not_ours)) {}

  /// Returns what the worker exited with, or dies of what it died of. If it was killed: what `killed` says.
  int go(const std::function<int(int by_signal)>& killed);

 private:
  [[nodiscard]] bool worker_ended();
  void forward(int number) const;
  void answer_all();
  void answer(const front_message&);
  void stop() const;
  void end_all() const;

  caught_signals& signals_;
  terminal& tty_;
  const pid_t worker_;
  const descriptor link_;
  const std::vector<pid_t> not_ours_;
  bool ended_ = false;
  int status_ = 0;
  pid_t command_ = 0;     // 0: it has not begun, or has ended with all that it left behind
  bool running_ = false;  // a stop is the command's, too
  int died_of_ = 0;
  bool for_the_job_ = false;
};

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
