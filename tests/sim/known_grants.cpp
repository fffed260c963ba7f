#include "sim/known_grants.hpp"

#include "redis/protocol/owner.hpp"

namespace holdfast::sim {

void known_grants::heard(const storage::owner_id& owner, std::uint64_t fence) {
  known_[redis::sixteen(owner.high, owner.low)] = fence;
}

void known_grants::granted(const std::string& lock, const std::string& claim, std::uint64_t fence) {
  granted_[lock][claim] = fence;
}

void known_grants::renewed(const std::string& lock, const std::string& claim) const {
  const auto known = known_.find(claim);
  const auto all = granted_.find(lock);
  if (known == known_.end() || all == granted_.end()) return;
  for (const auto& [who, fence] : all->second) {
    if (who != claim && fence > known->second) {
      world_.violate("I3: a writer of " + lock + " was renewed, and another had the lock since");
    }
  }
}

}  // namespace holdfast::sim
