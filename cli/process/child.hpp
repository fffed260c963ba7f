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

/// Between two looks for the end of processes that were killed: almost at once, as a rule; but one of another user's
/// cannot be killed, and may take its time.
class spin {
 public:
  void pause() noexcept {
    ::usleep(microseconds_);
    microseconds_ = std::min(microseconds_ * 2, longest);
  }

 private:
  static constexpr useconds_t longest = 100'000;
  useconds_t microseconds_ = 1'000;
};

/// What a program finds in its environment beyond ours; nothing: it does not find it, though we do.
using environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// For a process that was forked before this was known: written here, taken over there.
[[nodiscard]] std::string as_text(const environment&);
void take_over(std::string_view text);
/// Ours with these changes, as a program that is spawned wants it: NAME=value.
[[nodiscard]] std::vector<std::string> ours_with(const environment&);

/// Starts a line by /bin/sh, in a group of its own, with nothing to read. Safe in a program that has threads. `mask` is
/// the signal mask that it shall have. Throws std::system_error.
[[nodiscard]] pid_t start_line(const std::string& line, const environment&, const sigset_t& mask);

/// Those of the thread that forks, which is the first one; the ended ones that nobody has waited for included. Throws
/// std::system_error: the kernel does not tell, which is not to be taken for "none".
[[nodiscard]] std::vector<pid_t> children_of_this_process();

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
