#pragma once
#include <sys/types.h>

#include <functional>
#include <utility>
#include <vector>

#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// A message between the supervisor and its worker.
struct process_message {
  enum class kind : int {
    // Sent by the worker:
    may_start,  ///< number: pid of the command
    command_ended,
    stop,
    die,               ///< number: signal
    die_with_the_job,  ///< number: signal
    // Sent by the supervisor:
    start,
    continued,
    not_stopped,
  };
  kind what{};
  int number = 0;
};

/// A socket pair with close-on-exec. Throws std::system_error.
struct process_link {
  descriptor of_supervisor, of_worker;
};
[[nodiscard]] process_link make_process_link();

/// Ignores a closed peer.
void send(const descriptor& to, process_message::kind what, int number = 0) noexcept;
enum class received { message, nothing, end };
/// Does not block.
[[nodiscard]] received receive(const descriptor& from, process_message& into) noexcept;

/// The parent of the worker, from fork to exit: the process that the user sees. It has no threads and no lock. It
/// forwards signals, stops and continues with its job, and exits as the worker did. If the worker is killed, it kills
/// the command and all descendants; if it is killed itself, the worker does that.
class supervisor {
 public:
  /// `not_ours`: children that existed before the fork.
  supervisor(caught_signals& signals, terminal& tty, pid_t worker, descriptor link, std::vector<pid_t> not_ours)
      : signals_(signals), tty_(tty), worker_(worker), link_(std::move(link)), not_ours_(std::move(not_ours)) {}

  /// Returns the exit code of the worker, or dies by the signal in its last message. If the worker was killed, returns
  /// the result of `killed`.
  int go(const std::function<int(int by_signal)>& killed);

 private:
  [[nodiscard]] bool worker_ended();
  void forward(int number) const;
  void answer_all();
  void answer(const process_message&);
  void stop() const;
  void end_all() const;

  caught_signals& signals_;
  terminal& tty_;
  const pid_t worker_;
  const descriptor link_;
  const std::vector<pid_t> not_ours_;
  bool ended_ = false;
  int status_ = 0;
  pid_t command_ = 0;     // 0: not started, or ended with all its descendants
  bool running_ = false;  // SIGTSTP is forwarded to the worker
  int died_of_ = 0;
  bool for_the_job_ = false;
};

/// The result of a worker.
struct worker_result {
  int code = 0;
  int died_of = 0;                   ///< the supervisor dies by this signal
  bool key_was_for_the_job = false;  ///< and sends it to its process group
};

/// The worker's connection to the supervisor.
class supervisor_proxy {
 public:
  explicit supervisor_proxy(descriptor link) noexcept : link_(std::move(link)) {}

  /// Asks for permission to start the command, which is delayed while the supervisor is stopped. Returns false if the
  /// supervisor is gone or a terminating signal arrived.
  [[nodiscard]] bool may_start(pid_t command, caught_signals&);
  void command_ended();
  /// Reports that the command was stopped. The supervisor stops too, so that the shell notices; hear() returns the
  /// answer.
  void stop();

  enum class answer {
    none,
    continued,    ///< it was stopped and continued
    not_stopped,  ///< the kernel did not stop it because no shell could continue it
  };
  [[nodiscard]] answer hear();
  [[nodiscard]] bool gone() const noexcept { return gone_; }  ///< as of the last hear()
  void end(const worker_result&);
  /// Readable when a message or the end is pending.
  [[nodiscard]] int fd() const noexcept { return link_.get(); }

 private:
  descriptor link_;
  bool gone_ = false;
};

/// Forks; call it before any thread is started. The worker, in its own process group, runs `work` and exits with the
/// code, and so does the supervisor. If the worker was killed, the supervisor kills its processes and returns the
/// result of `killed`. Throws std::system_error.
[[nodiscard]] int run_supervised(caught_signals&, terminal&,
                                 const std::function<worker_result(supervisor_proxy&)>& work,
                                 const std::function<int(int by_signal)>& killed);

}  // namespace holdfast::cli
