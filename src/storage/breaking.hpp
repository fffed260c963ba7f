#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "storage/owner.hpp"
#include "storage/share.hpp"

namespace holdfast::storage {

/// Somebody takes a name by force.
struct breaking {
  owner_id id{};  ///< of this call, random: one that is asked again is known by it
  std::string name;
  std::uint64_t fence = 0;        ///< of those who lose it, or of their block; 0: any, with an owner
  std::optional<owner_id> owner;  ///< only this one loses it
  std::string reason{};

  /// Whether one loses it who holds so much, with so many fences from the first on. Of permits the owner decides, and
  /// no fence, which is only a number there.
  [[nodiscard]] bool is_about(const owner_id&, const share& has, std::uint64_t first,
                              std::uint64_t fences) const noexcept;
};

}  // namespace holdfast::storage
