#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "sim/world.hpp"
#include "storage/owner.hpp"

namespace holdfast::sim {

/// A part of I3, for writers on Redis: if another client held the lock since, a renewal succeeds only for the grant
/// that its client knows. A request of the claim that is carried out late can get it another grant, with a fence that
/// the client does not know.
class known_grants {
 public:
  explicit known_grants(world& w) : world_(w) {}

  /// A client received a grant of the lock with this fence.
  void heard(const storage::owner_id&, std::uint64_t fence);
  /// A server has given the lock to this claim, or to readers.
  void granted(const std::string& lock, const std::string& claim, std::uint64_t fence);
  /// A server has renewed the lease of this claim.
  void renewed(const std::string& lock, const std::string& claim) const;

 private:
  world& world_;
  std::map<std::string, std::uint64_t> known_;                           // the fence, by claim
  std::map<std::string, std::map<std::string, std::uint64_t>> granted_;  // the last one, by lock and claim
};

}  // namespace holdfast::sim
