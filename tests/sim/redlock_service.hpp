#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/redis_server.hpp"
#include "sim/redlock_audit.hpp"
#include "sim/service.hpp"

namespace holdfast::sim {

/// Redlock: several independent Redis servers, each with its own clock and its own connection from each client, which
/// fails independently. Quorum, voters and scripts are the product's.
class redlock_service final : public service {
 public:
  redlock_service(world&, const plan&, const std::function<double()>& any_rate);
  [[nodiscard]] std::unique_ptr<access> connect(client_io& loop) override;
  [[nodiscard]] bool exclusive() const override { return !faults_.sets_clock_forward && !breaks_; }
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& ttls() const override;
  std::uint64_t trouble(access& victim) override;
  void heal() override;
  [[nodiscard]] real rest() const override;
  [[nodiscard]] std::string leftovers() override;
  [[nodiscard]] std::string left_after_a_day() const override;

 private:
  class side;
  /// The faults of this run.
  struct faults {
    faults(world&, bool quiet);
    bool restarts_empty, restarts_with_data, dies, stands_still, cuts, flushes, gets_full, others;
    bool sets_clock_back;
    bool sets_clock_forward;  ///< the server's locks expire early, so only fences protect
  };
  struct node {
    std::unique_ptr<redis_server> server;
    bool writes_at_once;
    std::deque<network> ways{};  ///< from the clients
  };
  [[nodiscard]] std::uint64_t trouble_at(node&);
  [[nodiscard]] real any_skew();

  world& world_;
  const weather bad_;
  const real faults_end_;
  const bool breaks_;
  const faults faults_;
  bool healed_ = false;
  std::vector<node> nodes_;
  redlock_audit audit_;
};

}  // namespace holdfast::sim
