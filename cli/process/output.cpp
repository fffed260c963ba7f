#include "process/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <holdfast/limit.hpp>
#include <system_error>

#include "process/window.hpp"

namespace holdfast::cli {

using std::chrono::milliseconds;

output::output() noexcept { std::signal(SIGPIPE, SIG_IGN); }

bool output::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno == EAGAIN) {  // somebody shares it with us, and does not want to wait there
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
    pollfd reader{STDOUT_FILENO, 0, 0};  // asked for nothing, it still tells that the other end is gone
    const int told = ::poll(&reader, 1, static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 3'600'000)));
    if (told > 0) return false;
    if (left <= milliseconds(0)) return true;
  }
}

std::optional<std::size_t> output::columns() const noexcept {
  const auto window = window_of(STDOUT_FILENO);
  return window ? std::optional(window->columns) : std::nullopt;
}

}  // namespace holdfast::cli
