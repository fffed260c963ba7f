#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "directory/folder.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

using runtime::instant;
using session_id = std::int64_t;

/// A file of which each living client has one byte locked. The kernel keeps these locks (they belong to the open file,
/// not to the process), and drops them when the client is gone, however it went. Byte 0 is for whoever writes.
class sessions {
 public:
  explicit sessions(const folder&);
  sessions(const sessions&) = delete;
  sessions& operator=(const sessions&) = delete;
  ~sessions();

  /// Locks our own byte; true if it was free. Once.
  [[nodiscard]] bool begin(session_id);
  [[nodiscard]] session_id own() const noexcept { return own_; }
  [[nodiscard]] bool alive(session_id) const;

  /// Locks the writer's byte. False: not until then. Threads of one client must take turns before.
  [[nodiscard]] bool lock_writer(instant until);
  void unlock_writer() noexcept;
  /// The process that took the writer's byte last.
  [[nodiscard]] std::int64_t last_writer() const noexcept;

  void check() const { identity_.check(); }

 private:
  descriptor fd_;
  identity identity_;
  session_id own_ = 0;
};

}  // namespace holdfast::directory
