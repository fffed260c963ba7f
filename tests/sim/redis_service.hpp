#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/redis_server.hpp"
#include "sim/service.hpp"

namespace holdfast::sim {

/// A Redis server, reached by the product's own client over connections that break.
class redis_service final : public service {
 public:
  redis_service(world&, network&, double clock_rate, const plan&);
  [[nodiscard]] std::unique_ptr<access> connect(client_io& loop) override;
  [[nodiscard]] bool exclusive() const override { return !faults_.restarts_empty && !breaks_; }
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& ttls() const override;
  std::uint64_t trouble(access& victim) override;
  void heal() override;
  [[nodiscard]] real rest() const override;
  [[nodiscard]] std::string leftovers() override { return server_.leftovers(); }
  [[nodiscard]] std::string left_after_a_day() const override;

 private:
  class side;
  /// Which of them there are in this run.
  struct faults {
    faults(world&, bool quiet);
    bool restarts_empty, restarts_with_data, flushes, cuts, sets_clock_back, gets_full, others;
    bool any_way;  ///< commands go over any connection
    bool freezes;  ///< a crashed process counts as a listener for a while
  };
  world& world_;
  network& network_;
  const bool several_;
  const bool breaks_;
  const faults faults_;
  known_grants grants_{world_};
  redis_server server_;
};

}  // namespace holdfast::sim
