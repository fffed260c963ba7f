#include "process/terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace holdfast::cli {

namespace {

bool is_pipe(int fd) noexcept {
  struct stat is{};
  return ::fstat(fd, &is) == 0 && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode));
}

}  // namespace

terminal::terminal()
    : tty_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)),
      group_(::getpgrp()),
      alone_(group_ == ::getpid() && ::isatty(STDIN_FILENO) == 1 && !is_pipe(STDOUT_FILENO)) {}

bool terminal::ours() const noexcept { return there() && ::tcgetpgrp(tty_.get()) == group_; }

// SIGTTOU is blocked, so a background process may call tcsetpgrp().
void terminal::give_to(pid_t group) noexcept {
  if (ours() && ::tcsetpgrp(tty_.get(), group) == 0) given_to_ = group;
}

void terminal::take_back() noexcept {
  if (!given()) return;
  const pid_t now = ::tcgetpgrp(tty_.get());
  const bool is_gone =
      now <= 1 || (::kill(-now, 0) != 0 && errno == ESRCH);  // a group that the command made and that has ended
  if (now == given_to_ || is_gone) ::tcsetpgrp(tty_.get(), group_);
  given_to_ = 0;
}

void terminal::take_back_from(pid_t group) noexcept {
  if (there()) given_to_ = group;
  take_back();
}

}  // namespace holdfast::cli
