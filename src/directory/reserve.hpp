#pragma once
#include <cstdint>
#include <string>

#include "directory/folder.hpp"

namespace holdfast::directory {

/// The one thing that must survive a loss of power: up to where fences may have been used. Kept in a small file, with
/// the boot of the machine that it was written in. All else in the directory is about processes, and is void after a
/// boot; so nothing else is ever waited for to reach the disk.
class reserve {
 public:
  explicit reserve(const folder&);  ///< throws storage::failure

  [[nodiscard]] bool is_new() const noexcept { return boot_.empty(); }
  /// Written before this machine was started; or not written at all.
  [[nodiscard]] bool of_another_boot() const noexcept { return boot_ != this_boot_; }
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }
  /// Durable when it returns. By the one writer only. Throws storage::failure.
  void extend_to(std::int64_t end);

 private:
  const folder& folder_;
  const std::string this_boot_;
  std::string boot_;
  std::int64_t end_ = 0;
};

}  // namespace holdfast::directory
