#pragma once
#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/descriptor.hpp"
#include "process/environment.hpp"

namespace holdfast::cli {

/// The command, in a process group of its own.
///
/// It is forked before the program has threads, and waits for start(); so it can be made to die with us (a process that
/// is spawned later by a program with threads cannot, safely). Of what came of it, only whoever has us as a worker can
/// say the same: see front.hpp.
class child {
 public:
  /// Before any thread is started. `before` is the signal mask that the command shall have. Throws std::system_error.
  child(std::vector<std::string> command, const sigset_t& before);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();  ///< all of them are gone then, whether it was started or not

  /// Lets it run. Not zero: the command cannot be executed, and this is errno.
  [[nodiscard]] int start(const environment& more);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Runs a line by the shell beside the command. It counts among those who are to be gone, but of signals only SIGKILL
  /// reaches it. Throws std::system_error.
  void run_beside(const std::string& line, const environment& more, const sigset_t& before);
  [[nodiscard]] bool runs_beside() const noexcept { return beside_ != 0; }

  /// To the whole group, and to whoever has left it and is ours now. False: there is somebody whom we may not signal,
  /// another user's.
  bool signal_all(int number) noexcept;
  bool signal_group(int number) noexcept;

  enum class change { none, ended, stopped };
  /// After a SIGCHLD: what became of the command itself. Others who have ended are reaped.
  [[nodiscard]] change look();
  [[nodiscard]] int wait_status() const noexcept { return status_; }
  /// What it was stopped by, the last time that it was.
  [[nodiscard]] int stop_signal() const noexcept { return stop_signal_; }
  /// True: nobody of the group, and nobody who left it, is there any more. False also when that cannot be seen.
  [[nodiscard]] bool all_gone() noexcept;

 private:
  void run_command(const std::vector<std::string>& command, const sigset_t& before, int go, int failed);
  void end_all() noexcept;  // kills whoever is left, and waits until it is gone
  [[nodiscard]] std::vector<pid_t> strays() const;
  [[nodiscard]] bool group_gone() noexcept;

  pid_t pid_ = -1;
  pid_t beside_ = 0;
  descriptor go_, failed_;
  bool started_ = false;
  bool ended_ = false;
  bool group_gone_ = false;  // from now on its number may be another's
  int status_ = 0;
  int stop_signal_ = 0;
};

}  // namespace holdfast::cli
