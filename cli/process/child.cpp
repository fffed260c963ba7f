#include "process/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace holdfast::cli {

std::string as_text(const environment& all) {
  std::string text;
  for (const auto& [name, value] : all) text += (value ? name + "=" + *value : name) + '\0';
  return text;
}

void apply_environment(std::string_view text) {
  while (!text.empty()) {
    const std::string line(text.substr(0, text.find('\0')));
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) {
      ::unsetenv(line.c_str());
    } else {
      ::setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
    }
    text.remove_prefix(line.size() + 1);
  }
}

std::vector<std::string> environment_with(const environment& changes) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line(*at);
    const std::string_view name = line.substr(0, line.find('='));
    const bool changed = std::ranges::any_of(changes, [&](const auto& each) { return each.first == name; });
    if (!changed) all.emplace_back(line);
  }
  for (const auto& [name, value] : changes) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

pid_t spawn_shell(const std::string& line, const environment& more, const sigset_t& mask) {
  std::vector<std::string> variables = environment_with(more);
  std::vector<char*> found;
  for (std::string& each : variables) found.push_back(each.data());
  found.push_back(nullptr);
  std::string words[] = {"sh", "-c", line};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};

  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&how, 0);
  ::posix_spawnattr_setsigmask(&how, &mask);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t pid = -1;
  const int why = ::posix_spawn(&pid, "/bin/sh", &files, &how, arguments, found.data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  if (why != 0) throw std::system_error(why, std::generic_category(), "/bin/sh");
  return pid;
}

std::vector<pid_t> children_of_this_process() {
  const std::string me = std::to_string(::getpid());
  const std::string at = "/proc/" + me + "/task/" + me + "/children";
  errno = 0;
  std::ifstream children(at);
  std::vector<pid_t> all;
  for (pid_t each = 0; children >> each;) all.push_back(each);
  if (!children.is_open() || children.bad()) {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            at + " lists what a command has left behind, and cannot be read; is /proc mounted?");
  }
  return all;
}

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
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphaned descendants are reparented to us, so that strays() finds them
  pipe_ends go = make_pipe(), failed = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = fork_or_throw();
  if (pid_ == 0) {
    go.write.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);  // the parent exited before prctl() took effect
    run_command(command, before, go.read.get(), failed.write.get());
  }
  ::setpgid(pid_, pid_);  // done in both processes, so that it is set whichever runs first
  go_ = std::move(go.write);
  failed_ = std::move(failed.read);
}

child::~child() {
  go_.reset();  // a child that was not started exits
  if (started_) end_all();
  if (!ended_) ::waitpid(pid_, nullptr, 0);
}

/// Runs in the forked child: waits for the environment, then executes the command.
void child::run_command(const std::vector<std::string>& command, const sigset_t& before, int go, int failed) {
  ::setpgid(0, 0);
  std::string text;
  if (!read_all(go, text) || text.empty()) ::_exit(0);  // start() was not called
  apply_environment(std::string_view(text).substr(1));
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::execvp(arguments[0], arguments.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t written = ::write(failed, &why, sizeof why);
  ::_exit(127);
}

int child::start(const environment& more) {
  write_all(go_.get(), go_ahead + as_text(more));
  go_.reset();
  int why = 0;
  ssize_t n = 0;
  do n = ::read(failed_.get(), &why, sizeof why);  // exec closes the pipe, so EOF means success
  while (n < 0 && errno == EINTR);
  failed_.reset();
  started_ = n != sizeof why;
  return started_ ? 0 : why;
}

void child::run_hook(const std::string& line, const environment& more, const sigset_t& before) {
  hook_ = spawn_shell(line, more, before);
}

bool child::signal_group(int number) noexcept { return group_gone() || ::kill(-pid_, number) == 0 || errno != EPERM; }

bool child::signal_all(int number) noexcept {
  bool may = signal_group(number);
  if (hook_runs() && number == SIGKILL) ::kill(-hook_, number);
  try {
    for (const pid_t stray : strays()) {
      const pid_t group = ::getpgid(stray);
      // do not signal a process twice: some programs exit harder on the second signal
      if (group == pid_ || (hook_ != 0 && group == hook_)) continue;
      if (::kill(stray, number) != 0 && errno == EPERM) may = false;
    }
  } catch (const std::exception&) {  // strays are unknown now; the group has been signalled
  }
  return may;
}

child::change child::look() {
  change what = change::none;
  for (;;) {
    int status = 0;
    const pid_t who = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (who <= 0) return what;
    if (who == hook_ && !WIFSTOPPED(status)) hook_ = 0;  // its descendants are strays from now on
    if (who != pid_) continue;
    if (WIFSTOPPED(status)) {
      what = change::stopped;
      stop_signal_ = WSTOPSIG(status);
    } else {
      ended_ = true;
      status_ = status;
      what = change::ended;
      (void)group_gone();  // check at once, before the group id can be reused
    }
  }
}

void child::end_all() noexcept {
  for (backoff between; !all_gone(); between.pause()) {
    signal_all(SIGKILL);
    (void)look();
  }
}

/// The group id cannot be reused while the leader is not reaped or the group has members. Afterwards it may belong to
/// another group and is never used again.
bool child::group_gone() noexcept {
  if (ended_ && !group_gone_) group_gone_ = ::kill(-pid_, 0) != 0 && errno == ESRCH;
  return group_gone_;
}

bool child::all_gone() noexcept {
  try {
    return ended_ && group_gone() && strays().empty();
  } catch (const std::exception&) {  // what cannot be checked is not gone
    return false;
  }
}

/// Our children except the command: its orphaned descendants, and the hook.
std::vector<pid_t> child::strays() const {
  std::vector<pid_t> all = children_of_this_process();
  std::erase(all, pid_);
  return all;
}

}  // namespace holdfast::cli
