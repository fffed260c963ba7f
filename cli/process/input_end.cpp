#include "process/input_end.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace holdfast::cli {

input_end::input_end() noexcept : terminal_(::isatty(STDIN_FILENO) == 1) {
  std::signal(SIGTTIN, SIG_IGN);  // put into the background in the middle of a read: it fails, and we are not stopped
}

int input_end::fd() const noexcept {
  const pid_t foreground = terminal_ ? ::tcgetpgrp(STDIN_FILENO) : -1;  // -1: not of our session, and all may read it
  return foreground >= 0 && foreground != ::getpgrp() ? -1 : STDIN_FILENO;
}

bool input_end::over() noexcept {
  pollfd input{fd(), POLLIN, 0};
  if (over_ || ::poll(&input, 1, 0) <= 0) return over_;
  char dropped[4096];
  const ssize_t n = ::read(STDIN_FILENO, dropped, sizeof dropped);
  const bool later = n < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && fd() < 0));
  return over_ = n <= 0 && !later;
}

}  // namespace holdfast::cli
