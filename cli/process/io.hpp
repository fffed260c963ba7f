#pragma once
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <holdfast/limit.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace holdfast::cli {

/// Owns a file descriptor.
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

/// Writes the text. Drops the rest if the reader is gone or reads nothing for `patience`. Returns 0, or the errno of
/// the failure; ETIMEDOUT for a reader that does not read.
int write_with_timeout(int fd, std::string_view text,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(100)) noexcept;

/// Redirects the descriptor to /dev/null. Throws std::system_error.
void redirect_to_null(int fd);

/// A pipe with close-on-exec. Throws std::system_error.
struct pipe_ends {
  descriptor read, write;
};
[[nodiscard]] pipe_ends make_pipe();

/// An event that any thread can set and poll() can wait for.
class flag {
 public:
  flag() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  void take() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  descriptor fd_;
};

/// A condition other than a signal that ends a wait or a hold.
class end_condition {
 public:
  virtual ~end_condition() = default;
  /// Readable when over() should be checked. -1 if that cannot be polled now; check again after recheck_interval.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Does not block. Once true, it stays true.
  [[nodiscard]] virtual bool over() noexcept = 0;
};

/// The interval at which an end_condition whose descriptor is -1 is checked.
inline constexpr std::chrono::milliseconds recheck_interval{500};

/// True when stdin has ended. Input is discarded. A terminal is not read in the background, since that would stop the
/// process.
class end_of_input final : public end_condition {
 public:
  end_of_input() noexcept;
  [[nodiscard]] int fd() const noexcept override;
  [[nodiscard]] bool over() noexcept override;

 private:
  const bool terminal_;
  bool over_ = false;
};

/// Buffers lines for a slow reader, so that no line is lost and no writer blocks. put() may be called from any thread,
/// the other functions only from the thread that writes.
class outbox {
 public:
  /// SIGPIPE must be blocked or ignored. Does not own the descriptor.
  explicit outbox(int to) : to_(to) {}
  void put(const std::string& line);

  [[nodiscard]] bool empty();
  /// For poll(): readable when something is put into the empty buffer.
  [[nodiscard]] pollfd news() { return {empty() ? put_.fd() : -1, POLLIN, 0}; }
  /// For poll(): writable when there is text and room for it; reports an error when the reader is gone.
  [[nodiscard]] pollfd reader() { return {to_, static_cast<short>(empty() ? 0 : POLLOUT), 0}; }
  /// Writes as much as fits; `reader` is the result of poll(). Returns false if the reader is gone. Throws
  /// std::system_error, for example if the disk is full.
  [[nodiscard]] bool write(const pollfd& reader);

 private:
  const int to_;
  const flag put_;
  std::mutex mutex_;
  std::string text_;
};

/// Standard output for commands that write over time. A reader that closes the pipe (head -1) is not an error: write()
/// returns false.
class output {
 public:
  output() noexcept;  ///< ignores SIGPIPE from now on
  /// Writes all of the text. Returns false if the reader is gone. Throws std::system_error, for example if the disk is
  /// full.
  [[nodiscard]] bool write(std::string_view text) const;
  /// Sleeps. Returns false at once if the reader goes.
  [[nodiscard]] bool pause(std::chrono::milliseconds) const;
  /// The width of the terminal; empty if stdout is not a terminal.
  [[nodiscard]] std::optional<std::size_t> columns() const noexcept;
};

struct window {
  std::size_t columns = 80, rows = 24;
};

/// Returns the current size of a terminal; unknown dimensions keep the defaults. Empty if `fd` is not a terminal.
[[nodiscard]] std::optional<window> window_of(int fd) noexcept;

/// Returns the timeout for poll(): until then, capped at an hour.
[[nodiscard]] int poll_timeout(boot_clock::time_point until) noexcept;

/// Prints "holdfast: ..." on stderr, with control characters escaped. Gives up after a moment if stderr is not read, so
/// that a stuck reader cannot keep us from watching the lock.
void print_message(std::string_view line);

}  // namespace holdfast::cli
