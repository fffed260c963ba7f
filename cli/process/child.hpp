#pragma once
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/io.hpp"

namespace holdfast::cli {

/// The pause between checks whether killed processes are gone. Usually they go at once, but a process of another user
/// cannot be killed and may take long.
class backoff {
 public:
  void pause() noexcept {
    ::usleep(microseconds_);
    microseconds_ = std::min(microseconds_ * 2, longest);
  }

 private:
  static constexpr useconds_t longest = 100'000;
  useconds_t microseconds_ = 1'000;
};

/// Changes to our environment for another program. A variable without a value is removed.
using environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Serialize an environment for a process that was forked before the environment was known.
[[nodiscard]] std::string as_text(const environment&);
void apply_environment(std::string_view text);
/// Returns our environment with these changes, as NAME=value.
[[nodiscard]] std::vector<std::string> environment_with(const environment&);

/// Runs a line with /bin/sh, in its own process group and with stdin from /dev/null. Safe in a multithreaded program.
/// `mask` is the child's signal mask. Throws std::system_error.
[[nodiscard]] pid_t spawn_shell(const std::string& line, const environment&, const sigset_t& mask);

/// Returns the children of the main thread, including zombies. Throws std::system_error if the kernel does not list
/// them, which must not be mistaken for "none".
[[nodiscard]] std::vector<pid_t> children_of_this_process();

/// A command in its own process group.
///
/// It is forked before the program starts threads and waits for start(), so that PR_SET_PDEATHSIG can make it die with
/// us; a process that a multithreaded program spawns cannot do that safely. Its descendants are only covered by the
/// supervisor: see supervisor.hpp.
class child {
 public:
  /// Call before any thread is started. `before` is the signal mask of the command. Throws std::system_error.
  child(std::vector<std::string> command, const sigset_t& before);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();  ///< kills all of its processes, whether it was started or not

  /// Executes the command. Returns 0, or the errno of a failed exec.
  [[nodiscard]] int start(const environment& more);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Runs the shell line of --on-lost beside the command. all_gone() covers it, but of all signals only SIGKILL is sent
  /// to it. Throws std::system_error.
  void run_hook(const std::string& line, const environment& more, const sigset_t& before);
  [[nodiscard]] bool hook_runs() const noexcept { return hook_ != 0; }

  /// Signals the whole group and all descendants that have left it. Returns false if a process belongs to another user
  /// and cannot be signalled.
  bool signal_all(int number) noexcept;
  bool signal_group(int number) noexcept;

  enum class change { none, ended, stopped };
  /// Reaps ended children after a SIGCHLD and returns what happened to the command itself.
  [[nodiscard]] change look();
  [[nodiscard]] int wait_status() const noexcept { return status_; }
  /// The signal that last stopped it.
  [[nodiscard]] int stop_signal() const noexcept { return stop_signal_; }
  /// Returns true if no process of the group and no stray is left. Returns false also if that cannot be checked.
  [[nodiscard]] bool all_gone() noexcept;

 private:
  void run_command(const std::vector<std::string>& command, const sigset_t& before, int go, int failed);
  void end_all() noexcept;  // kills what is left and waits until it is gone
  [[nodiscard]] std::vector<pid_t> strays() const;
  [[nodiscard]] bool group_gone() noexcept;

  pid_t pid_ = -1;
  pid_t hook_ = 0;
  descriptor go_, failed_;
  bool started_ = false;
  bool ended_ = false;
  bool group_gone_ = false;  // from now on the group id may be reused
  int status_ = 0;
  int stop_signal_ = 0;
};

}  // namespace holdfast::cli
