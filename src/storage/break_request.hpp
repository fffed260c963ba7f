#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "storage/owner.hpp"
#include "storage/share.hpp"

namespace holdfast::storage {

/// An operator's order to release a lock by force.
struct break_request {
  owner_id id{};  ///< of this call, random: a repeated call is recognized by it
  std::string name;
  std::uint64_t fence = 0;        ///< any fence of the holder's block; 0: any fence, if `owner` is given
  std::optional<owner_id> owner;  ///< only this holder loses the lock
  std::string reason{};

  /// Returns true if this holder, with this block of fences, loses the lock. For permits only the owner counts: their
  /// fence is just a number.
  [[nodiscard]] bool is_about(const owner_id&, const share& has, std::uint64_t first,
                              std::uint64_t fences) const noexcept;
};

}  // namespace holdfast::storage
