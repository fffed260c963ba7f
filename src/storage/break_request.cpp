#include "storage/break_request.hpp"

namespace holdfast::storage {

bool break_request::is_about(const owner_id& who, const share& has, std::uint64_t first,
                             std::uint64_t fences) const noexcept {
  if (owner && *owner != who) return false;
  if (!has.of_a_lock() || fence == 0) return owner.has_value();
  return fence >= first && fence - first < fences;
}

}  // namespace holdfast::storage
