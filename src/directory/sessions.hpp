#pragma once
#include <cstdint>

#include "directory/byte_locks.hpp"

namespace holdfast::directory {

using session_id = std::int64_t;

/// A file of which each living client has one byte locked. The kernel drops the lock when the client is gone, however
/// it went.
class sessions {
 public:
  explicit sessions(const folder& in) : bytes_(in, "sessions") {}  ///< throws storage::failure

  /// Locks our own byte; true if it was free. Once. Throws std::system_error.
  [[nodiscard]] bool begin(session_id id) {
    if (!bytes_.try_lock(id)) return false;
    own_ = id;
    return true;
  }
  [[nodiscard]] session_id own() const noexcept { return own_; }
  /// Throws std::system_error.
  [[nodiscard]] bool alive(session_id id) const { return id == own_ || bytes_.is_locked(id); }

  /// The file that was opened. Throws std::system_error.
  [[nodiscard]] identity file() const { return bytes_.file(); }

  /// Besides us. Throws std::system_error.
  [[nodiscard]] bool anybody() const { return bytes_.is_any_locked(); }

 private:
  byte_locks bytes_;
  session_id own_ = 0;
};

}  // namespace holdfast::directory
