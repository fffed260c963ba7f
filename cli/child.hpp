#pragma once
#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "descriptor.hpp"

namespace holdfast::cli {

/// The command, in a process group of its own.
///
/// It is forked before the program has threads, and waits for start(); so it can be made to die with us (a process that
/// is spawned later by a program with threads cannot, safely). A second process, the guardian, ends the whole group if
/// we go without a word, kill -9 included.
class child {
 public:
  /// Before any thread is started. `before` is the signal mask that the command shall have. Throws std::system_error.
  child(std::vector<std::string> command, const sigset_t& before);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child();  ///< all of them are gone then, whether it was started or not; so is the guardian

  using environment = std::vector<std::pair<std::string, std::string>>;
  /// Lets it run. Not zero: the command cannot be executed, and this is errno.
  [[nodiscard]] int start(const environment& more);
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// To the whole group, and to whoever has left it and is ours now.
  void signal_all(int number) const noexcept;
  void signal_group(int number) const noexcept { ::kill(-pid_, number); }

  enum class change { none, ended, stopped };
  /// After a SIGCHLD: what became of the command itself. Others who have ended are reaped.
  [[nodiscard]] change look();
  [[nodiscard]] int wait_status() const noexcept { return status_; }
  /// What it was stopped by, the last time that it was.
  [[nodiscard]] int stop_signal() const noexcept { return stop_signal_; }
  /// True: nobody of the group, and nobody who left it, is there any more.
  [[nodiscard]] bool all_gone() const;

 private:
  void run_command(const std::vector<std::string>& command, const sigset_t& before, int go, int failed);
  void run_guardian(int still_there);
  void end_all() noexcept;  // kills whoever is left, and waits until it is gone
  [[nodiscard]] std::vector<pid_t> strays() const;

  pid_t pid_ = -1;
  pid_t guardian_ = -1;
  descriptor go_, failed_, still_there_;
  bool started_ = false;
  bool ended_ = false;
  int status_ = 0;
  int stop_signal_ = 0;
};

}  // namespace holdfast::cli
