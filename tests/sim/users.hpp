#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/checker.hpp"
#include "sim/client.hpp"
#include "sim/plan.hpp"
#include "sim/resource.hpp"
#include "sim/run.hpp"
#include "sim/service.hpp"
#include "sim/world.hpp"
#include "storage/share.hpp"

namespace holdfast::sim {

/// The users of clients acquire a lock, a read lock or some permits, hold it for a while, use the resource that it
/// protects, and release it. Some send revoke requests to other holders or break their locks.
class users {
 public:
  struct surroundings {
    world& all;
    const plan& planned;
    service& store;
    checker& checks;
    result& counted;
  };
  explicit users(surroundings s)
      : world_(s.all),
        plan_(s.planned),
        service_(s.store),
        checker_(s.checks),
        result_(s.counted),
        resource_(s.all),
        permits_(s.planned.permits) {}

  [[nodiscard]] runtime::task<void> live(client&, std::uint64_t operations);
  /// After the faults: every lock and every permit can be acquired.
  [[nodiscard]] runtime::task<void> take_everything(client&);

 private:
  struct wish {
    std::string name;
    storage::share part;
    std::vector<std::string> others{};  ///< more locks, all at once
  };
  [[nodiscard]] wish any_wish();
  [[nodiscard]] std::chrono::milliseconds any_ttl();
  runtime::task<void> resize(client&);
  runtime::task<void> revoke(client&);
  runtime::task<void> break_lock(client&);
  runtime::task<void> hold(client&, std::shared_ptr<core::lease_state>, std::vector<std::string> names, real asked);
  void check_fence_after_breaks(const checker::watched&, real asked);
  runtime::task<void> renew(client&, std::shared_ptr<core::lease_state>);
  runtime::task<void> downgrade(client&, std::shared_ptr<core::lease_state>, checker::watched&);
  runtime::task<void> add_one(client&, const checker::watched&);
  runtime::task<void> only_read(client&, const checker::watched&);
  runtime::task<void> take(client&, std::string name, storage::share);
  void refused(const checker::watched&);

  world& world_;
  const plan& plan_;
  service& service_;
  checker& checker_;
  result& result_;
  resource resource_;
  struct holder {
    std::uint64_t fence;
    storage::owner_id owner;
  };
  struct broken {
    real when;  // the operator got the reply
    std::uint64_t fence;
  };
  std::map<std::string, holder> last_seen_;            // the holder of each name that operators know
  std::map<std::string, std::vector<broken>> broken_;  // for each name, the leases that were broken
  std::uint32_t permits_;                              // the size that most users know, since a resize notifies them
};

}  // namespace holdfast::sim
