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

/// Writes the text. When the reader is gone, or takes nothing for this long, the rest is dropped. Returns 0, or the
/// errno that says why it was dropped: ETIMEDOUT for a reader that takes nothing.
int write_while_read(int fd, std::string_view text,
                     std::chrono::milliseconds patience = std::chrono::milliseconds(100)) noexcept;

/// From now on that descriptor is /dev/null. Throws std::system_error.
void turn_to_null(int fd);

/// The two ends of a pipe; neither survives exec. Throws std::system_error.
struct pipe_ends {
  descriptor read, write;
};
[[nodiscard]] pipe_ends make_pipe();

/// Set from any thread, seen by poll().
class flag {
 public:
  flag() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(fd_.get(), &one, sizeof one);
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  void take() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  descriptor fd_;
};

/// What, besides a signal, ends a wait or a hold: those for whom it is have no use for it any more.
class ending {
 public:
  virtual ~ending() = default;
  /// Readable when over() is worth a look; -1: it cannot tell for now, and is to be asked again in a while.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Never blocks; once true, always true.
  [[nodiscard]] virtual bool over() noexcept = 0;
};

/// How long to wait for something whose descriptor is -1.
inline constexpr std::chrono::milliseconds ask_again{500};

/// The end of stdin. What comes before it is dropped. In the background a terminal is not read: its keys are meant for
/// others, and whoever reads it there would be stopped.
class input_end final : public ending {
 public:
  input_end() noexcept;
  [[nodiscard]] int fd() const noexcept override;
  [[nodiscard]] bool over() noexcept override;

 private:
  const bool terminal_;
  bool over_ = false;
};

/// Lines on their way to a reader, who may be slow: none is lost, and nobody has to wait for it. put() may be called
/// from any thread, the others are for the one that writes.
class outbox {
 public:
  /// SIGPIPE must be blocked or ignored; the descriptor stays the caller's.
  explicit outbox(int to) : to_(to) {}
  void put(const std::string& line);

  [[nodiscard]] bool empty();
  /// To be waited for, beside the reader's end: that something is put, while there is nothing to write.
  [[nodiscard]] pollfd news() { return {empty() ? put_.fd() : -1, POLLIN, 0}; }
  /// The reader's end, to be waited for: for room if there is anything to write, else for the reader to go.
  [[nodiscard]] pollfd reader() { return {to_, static_cast<short>(empty() ? 0 : POLLOUT), 0}; }
  /// After poll() has seen that end: writes as much as there is room for. False: nobody reads any more. Throws
  /// std::system_error, such as for a full disk.
  [[nodiscard]] bool write(const pollfd& reader);

 private:
  const int to_;
  const flag put_;
  std::mutex mutex_;
  std::string text_;
};

/// Standard output, for what comes bit by bit. Whoever reads it may have had enough (head -1): that is no error, and we
/// are told instead of ended.
class output {
 public:
  output() noexcept;  ///< a closed pipe does not end the process from now on
  /// All of it, at once. False: nobody reads any more. Throws std::system_error, such as for a full disk.
  [[nodiscard]] bool write(std::string_view text) const;
  /// For so long, or until nobody reads any more: then false.
  [[nodiscard]] bool pause(std::chrono::milliseconds) const;
  /// Of the terminal that it is; nothing: it is none.
  [[nodiscard]] std::optional<std::size_t> columns() const noexcept;
};

struct window {
  std::size_t columns = 80, rows = 24;
};

/// The size of a terminal, as it is now; what it does not know is as above. Nothing: it is none.
[[nodiscard]] std::optional<window> window_of(int fd) noexcept;

/// For poll(): until then, but no longer than it can wait.
[[nodiscard]] int poll_timeout(boot_clock::time_point until) noexcept;

/// Says a line on stderr, for people: "holdfast: ...". What others wrote in it is made harmless. A reader who does not
/// read is left behind after a moment: nobody shall keep us from minding the lock.
void say_in_words(std::string_view line);

}  // namespace holdfast::cli
