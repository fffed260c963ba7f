#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::net {

/// There is no connection, or none any more. The text says why, without secrets.
class broken : public std::runtime_error {
 public:
  explicit broken(const std::string& why, bool for_good = false) : std::runtime_error(why), for_good_(for_good) {}
  /// No answer came in time.
  static broken late(const std::string& why) {
    broken made(why);
    made.late_ = true;
    return made;
  }
  /// Trying again cannot help: the server's certificate is not to be trusted, say.
  [[nodiscard]] bool for_good() const noexcept { return for_good_; }
  [[nodiscard]] bool is_late() const noexcept { return late_; }

 private:
  bool for_good_;
  bool late_ = false;
};

/// Bytes to and from a server. Nothing here waits, except receive_soon(); one thread at a time.
class stream {
 public:
  stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  virtual ~stream() = default;

  /// Returns how many bytes came. While there are more, the descriptor stays readable, if the room is for 16 KiB.
  /// Throws broken.
  [[nodiscard]] virtual std::size_t receive(std::span<char>) = 0;
  /// The same, but the kernel may wait for some milliseconds: one system call for an answer that is about to come.
  [[nodiscard]] virtual std::size_t receive_soon(std::span<char>) = 0;
  /// How many bytes were taken; 0: none for now. Throws broken.
  [[nodiscard]] virtual std::size_t send(std::string_view) = 0;
  [[nodiscard]] virtual int fd() const noexcept = 0;
};

}  // namespace holdfast::net
