#include "terminal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

bool is_pipe(int fd) noexcept {
  struct stat is{};
  return ::fstat(fd, &is) == 0 && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode));
}

}  // namespace

terminal::terminal() {
  if (::getpgrp() != ::getpid() || ::isatty(STDIN_FILENO) != 1 || is_pipe(STDOUT_FILENO)) return;
  tty_ = descriptor(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (tty_.get() >= 0 && ::tcgetpgrp(tty_.get()) != ::getpgrp()) tty_.reset();
}

// SIGTTOU is blocked in this program, so that it may do this from the background.
void terminal::give_to(pid_t group) noexcept {
  if (tty_.get() >= 0) given_ = ::tcsetpgrp(tty_.get(), group) == 0;
}

void terminal::take_back() noexcept {
  if (given_) ::tcsetpgrp(tty_.get(), ::getpgrp());
  given_ = false;
}

}  // namespace holdfast::cli
