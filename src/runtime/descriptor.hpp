#pragma once
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace holdfast::runtime {

/// Throws std::system_error with errno. The text names the call or, if there is no descriptor left, what to do.
[[noreturn]] void throw_errno(const char* call);

/// A file descriptor that is closed by its destructor.
class descriptor {
 public:
  descriptor() noexcept = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  /// The result of a system call. Calls throw_errno() if it is negative.
  descriptor(int fd, const char* call) : fd_(fd) {
    if (fd < 0) throw_errno(call);
  }
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace holdfast::runtime
