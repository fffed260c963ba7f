#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/redis_server.hpp"
#include "sim/world.hpp"
#include "storage/owner.hpp"

namespace holdfast::sim {

/// The invariants of Redlock that need a view of all servers: I6 at each of them, and I12 over all.
class redlock_audit {
 public:
  redlock_audit(world& w, std::size_t servers) : world_(w), servers_(servers) {}

  [[nodiscard]] std::size_t servers() const noexcept { return servers_; }

  /// A script was run at one of them.
  void ran(std::size_t server, const redis_server::script_run&);
  /// A client got the reply that its call with this id broke a lock.
  void broke(const storage::owner_id& id);
  /// A client asks for a renewal.
  void asked_for(const storage::owner_id&);
  /// A client got the reply that its lease is renewed.
  void heard_of(const storage::owner_id&);

 private:
  [[nodiscard]] static std::string told(std::size_t server, const redis_server::script_run&);
  void check_who_changed_it(const redis_server::script_run&);
  void note_break(const redis_server::script_run&);

  world& world_;
  const std::size_t servers_;
  std::map<std::string, std::set<std::size_t>> renewed_;  // by which servers, since it was asked for; by claim
  std::map<std::string, std::string> taken_from_;         // which claim, by the id of the call
  std::set<std::string> broken_;                          // claims, until they ask for votes again
  std::set<std::string> renews_in_vain_;                  // of those, who have asked since
};

}  // namespace holdfast::sim
