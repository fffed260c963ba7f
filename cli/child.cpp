#include "child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace holdfast::cli {

namespace {

pid_t fork_or_throw() {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  return pid;
}

bool read_all(int fd, std::string& text) {
  char part[4096];
  for (;;) {
    const ssize_t n = ::read(fd, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    text.append(part, static_cast<std::size_t>(n));
  }
}

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

constexpr char go_ahead = '!';

}  // namespace

child::child(std::vector<std::string> command, const sigset_t& before) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever loses its parent in there becomes ours, and is found
  pipe_ends go = make_pipe(), failed = make_pipe(), still_there = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = fork_or_throw();
  if (pid_ == 0) {
    go.write.reset();
    still_there.read.reset();
    still_there.write.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);  // it was gone before we could ask
    run_command(command, before, go.read.get(), failed.write.get());
  }
  ::setpgid(pid_, pid_);  // also here: whichever of us is first
  guardian_ = fork_or_throw();
  if (guardian_ == 0) {
    go.write.reset();
    failed.read.reset();
    still_there.write.reset();
    run_guardian(still_there.read.get());
  }
  go_ = std::move(go.write);
  failed_ = std::move(failed.read);
  still_there_ = std::move(still_there.write);
}

child::~child() {
  go_.reset();  // one that was not started goes
  if (started_) end_all();
  if (!ended_ && ::waitpid(pid_, nullptr, 0) == pid_) ended_ = true;
  if (all_gone()) write_all(still_there_.get(), std::string(1, go_ahead));  // the guardian may go in peace
  still_there_.reset();
  ::waitpid(guardian_, nullptr, 0);
}

/// In the fork: waits for the environment, and becomes the command.
void child::run_command(const std::vector<std::string>& command, const sigset_t& before, int go, int failed) {
  ::setpgid(0, 0);
  std::string text;
  if (!read_all(go, text) || text.empty()) ::_exit(0);  // not needed after all
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    const std::size_t equals = text.find('=', at);
    ::setenv(text.substr(at, equals - at).c_str(), text.substr(equals + 1, end - equals - 1).c_str(), 1);
    at = end + 1;
  }
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::execvp(arguments[0], arguments.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t told = ::write(failed, &why, sizeof why);
  ::_exit(127);
}

/// In the fork: outlives us, if only to end the group. No signal of a terminal reaches it.
void child::run_guardian(int still_there) {
  ::setsid();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "holdfast-guard");
  ::dup2(still_there, 0);  // and nothing else stays open: somebody may wait for the end of a pipe
  ::close_range(1, ~0U, 0);
  char word = 0;
  ssize_t n = 0;
  do n = ::read(0, &word, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) ::kill(-pid_, SIGKILL);
  ::_exit(0);
}

int child::start(const environment& more) {
  std::string text(1, go_ahead);
  for (const auto& [name, value] : more) text += name + "=" + value + '\0';
  write_all(go_.get(), text);
  go_.reset();
  int why = 0;
  ssize_t n = 0;
  do n = ::read(failed_.get(), &why, sizeof why);  // the end: it was closed by exec
  while (n < 0 && errno == EINTR);
  failed_.reset();
  started_ = n != sizeof why;
  return started_ ? 0 : why;
}

void child::signal_all(int number) const noexcept {
  signal_group(number);
  try {
    for (const pid_t stray : strays()) {
      if (::getpgid(stray) != pid_) ::kill(stray, number);  // nobody twice: to some, that means to hurry
    }
  } catch (const std::exception&) {  // no memory: the group has it
  }
}

child::change child::look() {
  change what = change::none;
  for (;;) {
    int status = 0;
    const pid_t who = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (who <= 0) return what;
    if (who != pid_) continue;
    if (WIFSTOPPED(status)) {
      what = change::stopped;
      stop_signal_ = WSTOPSIG(status);
    } else {
      ended_ = true;
      status_ = status;
      what = change::ended;
    }
  }
}

void child::end_all() noexcept {
  try {
    for (; !all_gone(); ::usleep(1'000)) {
      signal_all(SIGKILL);
      (void)look();
    }
  } catch (const std::exception&) {  // no memory to look with: the guardian does the rest
    signal_group(SIGKILL);
  }
}

bool child::all_gone() const {
  const bool group_gone = ::kill(-pid_, 0) != 0 && errno == ESRCH;
  return ended_ && group_gone && strays().empty();
}

/// Our children but the command and the guardian: those whose parents in there have ended.
std::vector<pid_t> child::strays() const {
  std::vector<pid_t> all;
  const std::string me = std::to_string(::getpid());
  std::ifstream children("/proc/" + me + "/task/" + me + "/children");
  for (pid_t each = 0; children >> each;) {
    if (each != pid_ && each != guardian_) all.push_back(each);
  }
  return all;
}

}  // namespace holdfast::cli
