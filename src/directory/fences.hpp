#pragma once
#include <cstdint>
#include <string>

#include "directory/database.hpp"
#include "directory/folder.hpp"

namespace holdfast::directory {

/// The upper bound of all fences that may have been used, in the small file "fences", together with the boot of the
/// machine that wrote it. It is the only thing that must survive a power loss. Everything else in the directory is
/// about processes and is void after a boot, so nothing else is written durably.
class fence_reserve {
 public:
  explicit fence_reserve(const folder&);  ///< throws storage::failure

  /// Returns true if the file does not exist yet.
  [[nodiscard]] bool is_new() const noexcept { return boot_.empty(); }
  /// Returns true if it was written before this boot of the machine, or was not written at all.
  [[nodiscard]] bool of_another_boot() const noexcept { return boot_ != this_boot_; }
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }
  /// Is durable when it returns. Only the one writer may call it. Throws storage::failure.
  void extend_to(std::int64_t end);

 private:
  const folder& folder_;
  const std::string this_boot_;
  std::string boot_;
  std::int64_t end_ = 0;
};

/// Allocates fences: never below the wall clock, and always above all earlier ones. After a power loss it continues
/// above what was reserved.
class fence_allocator {
 public:
  fence_allocator(const folder&, const database&);  ///< throws storage::failure

  /// Called at the start of each transaction.
  void begin() noexcept { reserved_to_ = 0; }
  /// Returns the first of `count` fences. Throws storage::failure.
  [[nodiscard]] std::uint64_t next(std::uint64_t count);
  /// Writes the reserve durably. Called before the commit, after which other clients see the fences.
  void secure();

 private:
  const folder& folder_;
  fence_reserve reserve_;
  std::int64_t reserved_to_ = 0;  // by this transaction; 0: nothing
  statement read_, write_;
};

}  // namespace holdfast::directory
