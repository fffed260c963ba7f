#include "process/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

namespace holdfast::cli {

void write_while_read(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    pollfd room{fd, POLLOUT, 0};
    if (::poll(&room, 1, 100) <= 0) return;
    const ssize_t n = ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void turn_to_null(int fd) {
  const descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.get() < 0 || ::dup2(null.get(), fd) < 0)
    throw std::system_error(errno, std::generic_category(), "/dev/null");
}

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

}  // namespace holdfast::cli
