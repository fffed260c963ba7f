#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::net {

/// The connection failed or broke. The text says why, without secrets.
class broken : public std::runtime_error {
 public:
  explicit broken(const std::string& why, bool for_good = false) : std::runtime_error(why), for_good_(for_good) {}
  /// No answer came in time.
  static broken late(const std::string& why) {
    broken made(why);
    made.late_ = true;
    return made;
  }
  /// Retrying cannot help, for example because the server's certificate is not trusted.
  [[nodiscard]] bool for_good() const noexcept { return for_good_; }
  [[nodiscard]] bool is_late() const noexcept { return late_; }

 private:
  bool for_good_;
  bool late_ = false;
};

/// Bytes to and from a server. Only receive_soon() blocks. Not thread-safe.
class stream {
 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  virtual ~stream() = default;

  /// Returns the number of bytes read, 0 if none is available. If the buffer has at least 16 KiB, the descriptor stays
  /// readable while more bytes are available. Throws broken.
  [[nodiscard]] virtual std::size_t receive(std::span<char>) = 0;
  /// Like receive(), but blocks for some milliseconds if nothing is available, which saves a system call for a reply
  /// that is about to arrive.
  [[nodiscard]] virtual std::size_t receive_soon(std::span<char>) = 0;
  /// Returns the number of bytes accepted, 0 if none can be for now. Throws broken.
  [[nodiscard]] virtual std::size_t send(std::string_view) = 0;
  [[nodiscard]] virtual int fd() const noexcept = 0;
};

}  // namespace holdfast::net
