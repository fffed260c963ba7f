#include "process/outbox.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

namespace holdfast::cli {

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
  const ssize_t n = ::write(to_, text_.data(), std::min<std::size_t>(text_.size(), PIPE_BUF));  // so it does not block
  if (n < 0 && errno == EPIPE) return false;
  if (n < 0 && errno != EINTR && errno != EAGAIN) throw std::system_error(errno, std::generic_category(), "output");
  text_.erase(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (text_.empty()) put_.take();
  return true;
}

}  // namespace holdfast::cli
