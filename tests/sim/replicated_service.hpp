#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/redis_pair.hpp"
#include "sim/service.hpp"

namespace holdfast::sim {

/// A primary with a replica, and sentinels that name the primary to clients. In some runs a grant counts only when the
/// replica has it. Two invariants apply to this store only. I16: a holder whose lock a failover has lost is notified
/// soon after its client learns of the failover. I17: the replica has every lock for which the client waited for it, so
/// that the lock survives a failover.
class replicated_service final : public service {
 public:
  replicated_service(world&, network&, double clock_rate, const plan&);
  [[nodiscard]] std::unique_ptr<access> connect(client_io& loop) override;
  [[nodiscard]] bool exclusive() const override { return !faults_.dies && !faults_.hands_over; }
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& ttls() const override;
  std::uint64_t trouble(access& victim) override;
  [[nodiscard]] real rest() const override;
  [[nodiscard]] std::string leftovers() override { return pair_.last_primary().leftovers(); }
  [[nodiscard]] std::string left_after_a_day() const override;

 private:
  class side;
  /// Which of them there are in this run.
  struct faults {
    faults(world&, bool quiet);
    bool dies, hands_over, lags, flushes, cuts;
  };
  [[nodiscard]] static bool has(const redis_server&, const storage::owner_id&);
  void tell_all();
  void check_fence(const redis_server&, const redis_server::script_run&);
  void check_readers(const redis_server::script_run&);

  world& world_;
  network& network_;
  const faults faults_;
  const bool waits_;  // grants wait for the replica
  const bool calm_;   // the network is good even if servers fail
  const real apart_;  // how far the clock of the replica is ahead
  const real faults_end_;
  std::vector<side*> sides_;
  std::map<std::string, std::uint64_t> highest_;             // the highest fence of each lock at either server
  std::map<std::string, std::uint64_t> granted_;             // the last fence of each lock at the latest primary
  std::map<std::string, std::vector<std::string>> readers_;  // of each list at the primary, after its last script
  known_grants grants_{world_};
  redis_pair pair_;
};

}  // namespace holdfast::sim
