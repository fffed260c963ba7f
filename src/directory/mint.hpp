#pragma once
#include <cstdint>

#include "directory/database.hpp"
#include "directory/folder.hpp"
#include "directory/reserve.hpp"

namespace holdfast::directory {

/// Where fences come from: never below the clock, and always above all that were minted before, also if the machine
/// lost power meanwhile: then it goes on behind what was reserved.
class mint {
 public:
  mint(const folder&, const database&);  ///< throws storage::failure

  void begin() noexcept { reserved_to_ = 0; }                ///< a transaction
  [[nodiscard]] std::uint64_t next(std::uint64_t how_many);  ///< the first of them; throws storage::failure
  /// Before a transaction is kept, and anybody can use them.
  void secure();

 private:
  const folder& folder_;
  reserve reserve_;
  std::int64_t reserved_to_ = 0;  // by this transaction, or 0: it must be on the disk before they are used
  statement look_, note_;
};

}  // namespace holdfast::directory
