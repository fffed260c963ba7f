#pragma once
#include <poll.h>

#include <mutex>
#include <string>

#include "process/flag.hpp"

namespace holdfast::cli {

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

}  // namespace holdfast::cli
