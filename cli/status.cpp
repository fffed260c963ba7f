#include "status.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <nlohmann/json.hpp>

namespace holdfast::cli {

status::status(int fd) noexcept : fd_(fd) {
  if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void status::tell(std::string_view what, std::initializer_list<field> more) const {
  if (fd_ < 0) return;
  using clock = std::chrono::system_clock;
  nlohmann::ordered_json line;
  line["event"] = what;
  line["time"] = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  for (const field& f : more) {
    std::visit([&](const auto& value) { line[std::string(f.name)] = value; }, f.value);
  }
  // Names are bytes: what is no UTF-8 is shown as such.
  const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    // Somebody who does not read shall not keep us from minding the lock.
    pollfd room{fd_, POLLOUT, 0};
    if (::poll(&room, 1, 100) <= 0) return;
    const ssize_t n = ::write(fd_, text.data() + at, std::min<std::size_t>(text.size() - at, PIPE_BUF));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace holdfast::cli
