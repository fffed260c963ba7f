#include "process/io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <holdfast/limit.hpp>
#include <string>
#include <system_error>

#include "text/utf8.hpp"

namespace holdfast::cli {

int write_with_timeout(int fd, std::string_view text, std::chrono::milliseconds patience) noexcept {
  while (!text.empty()) {
    pollfd room{fd, POLLOUT, 0};
    if (::poll(&room, 1, static_cast<int>(patience.count())) <= 0) return ETIMEDOUT;
    const ssize_t n = ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

void redirect_to_null(int fd) {
  const descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.get() < 0 || ::dup2(null.get(), fd) < 0)
    throw std::system_error(errno, std::generic_category(), "/dev/null");
}

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

end_of_input::end_of_input() noexcept : terminal_(::isatty(STDIN_FILENO) == 1) {
  std::signal(SIGTTIN, SIG_IGN);  // if we move to the background during a read, it fails instead of stopping us
}

int end_of_input::fd() const noexcept {
  const pid_t foreground =
      terminal_ ? ::tcgetpgrp(STDIN_FILENO) : -1;  // -1: not our controlling terminal, so reading it never stops us
  return foreground >= 0 && foreground != ::getpgrp() ? -1 : STDIN_FILENO;
}

bool end_of_input::over() noexcept {
  pollfd input{fd(), POLLIN, 0};
  if (over_ || ::poll(&input, 1, 0) <= 0) return over_;
  char dropped[4096];
  const ssize_t n = ::read(STDIN_FILENO, dropped, sizeof dropped);
  const bool later = n < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && fd() < 0));
  return over_ = n <= 0 && !later;
}

void outbox::put(const std::string& line) {
  const std::lock_guard lock(mutex_);
  text_ += line;
  put_.set();
}

bool outbox::empty() {
  const std::lock_guard lock(mutex_);
  return text_.empty();
}

bool outbox::write(const pollfd& reader) {
  if ((reader.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return false;
  if ((reader.revents & POLLOUT) == 0) return true;
  const std::lock_guard lock(mutex_);
  const ssize_t n =
      ::write(to_, text_.data(), std::min<std::size_t>(text_.size(), PIPE_BUF));  // a write of this size does not block
  if (n < 0 && errno == EPIPE) return false;
  if (n < 0 && errno != EINTR && errno != EAGAIN) throw std::system_error(errno, std::generic_category(), "output");
  text_.erase(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (text_.empty()) put_.take();
  return true;
}

using std::chrono::milliseconds;

output::output() noexcept { std::signal(SIGPIPE, SIG_IGN); }

bool output::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno == EAGAIN) {  // another process has set O_NONBLOCK on the shared description
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "standard output");
    }
  }
  return true;
}

bool output::pause(milliseconds how_long) const {
  const auto end = boot_clock::now() + how_long;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - boot_clock::now());
    pollfd reader{STDOUT_FILENO, 0, 0};  // without events, poll() still reports a closed reader
    const int ready = ::poll(&reader, 1, static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 3'600'000)));
    if (ready > 0) return false;
    if (left <= milliseconds(0)) return true;
  }
}

std::optional<std::size_t> output::columns() const noexcept {
  const auto window = window_of(STDOUT_FILENO);
  return window ? std::optional(window->columns) : std::nullopt;
}

std::optional<window> window_of(int fd) noexcept {
  if (::isatty(fd) != 1) return std::nullopt;
  window is;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return is;
  if (size.ws_col > 0) is.columns = size.ws_col;
  if (size.ws_row > 0) is.rows = size.ws_row;
  return is;
}

int poll_timeout(boot_clock::time_point until) noexcept {
  if (until == boot_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
}

void print_message(std::string_view line) { write_with_timeout(STDERR_FILENO, "holdfast: " + printable(line) + "\n"); }

}  // namespace holdfast::cli
