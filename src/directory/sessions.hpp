#pragma once
#include <cstdint>

#include "directory/folder.hpp"
#include "runtime/fork.hpp"

namespace holdfast::directory {

using session_id = std::int64_t;

/// A file of which each living client has one byte locked. The kernel keeps these locks (they belong to the open file,
/// not to the process), and drops them when the client is gone, however it went.
class sessions {
 public:
  explicit sessions(const folder&);
  sessions(const sessions&) = delete;
  sessions& operator=(const sessions&) = delete;

  /// Locks our own byte; true if it was free. Once.
  [[nodiscard]] bool begin(session_id);
  [[nodiscard]] session_id own() const noexcept { return own_; }
  [[nodiscard]] bool alive(session_id) const;

 private:
  const descriptor fd_;
  const runtime::closed_in_children private_{fd_.get()};  // a child of ours would go on to live for us
  session_id own_ = 0;
};

}  // namespace holdfast::directory
