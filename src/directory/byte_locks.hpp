#pragma once
#include <cstdint>
#include <string>

#include "directory/folder.hpp"
#include "runtime/fork.hpp"

namespace holdfast::directory {

/// A file of which single bytes are locked. The kernel keeps these locks: they belong to the open file, not to the
/// process, and go when it is closed, however that came about. So no child may have it: it would keep them for us.
class byte_locks {
 public:
  byte_locks(const folder&, const std::string& name);  ///< made if it is not there; throws storage::failure

  /// Those that throw throw std::system_error.
  [[nodiscard]] bool try_lock(std::int64_t at);
  void unlock(std::int64_t at) noexcept;
  /// By somebody else.
  [[nodiscard]] bool is_locked(std::int64_t at) const { return is_locked(at, 1); }
  /// One of so many bytes; 0: to the end, wherever that is.
  [[nodiscard]] bool is_locked(std::int64_t at, std::int64_t bytes) const;
  [[nodiscard]] bool is_any_locked() const { return is_locked(0, 0); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] identity file() const;

 private:
  const std::string path_;
  const descriptor fd_;
  const runtime::closed_in_children private_{fd_.get()};
};

}  // namespace holdfast::directory
