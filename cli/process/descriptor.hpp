#pragma once
#include <unistd.h>

#include <string_view>
#include <utility>

namespace holdfast::cli {

/// A file descriptor that closes itself.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() { reset(); }
  void reset() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

/// Writes as long as somebody reads: after a tenth of a second without room, or when the reader is gone, the rest is
/// dropped.
void write_while_read(int fd, std::string_view text) noexcept;

/// From now on that descriptor is /dev/null. Throws std::system_error.
void turn_to_null(int fd);

/// The two ends of a pipe; neither survives exec. Throws std::system_error.
struct pipe_ends {
  descriptor read, write;
};
[[nodiscard]] pipe_ends make_pipe();

}  // namespace holdfast::cli
