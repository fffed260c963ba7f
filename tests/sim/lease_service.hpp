#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/lease_server.hpp"
#include "sim/network.hpp"
#include "sim/remote.hpp"
#include "sim/service.hpp"

namespace holdfast::sim {

/// The plainest store: a lease server, and messages that may get lost one by one.
class lease_service final : public service {
 public:
  lease_service(world&, network&, double clock_rate, bool restarts);
  [[nodiscard]] std::unique_ptr<access> connect(client_io& loop) override;
  [[nodiscard]] bool exclusive() const override { return !restarts_; }
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& ttls() const override;
  std::uint64_t trouble(access& victim) override;
  [[nodiscard]] real rest() const override;
  [[nodiscard]] std::string leftovers() override;
  [[nodiscard]] std::string left_after_a_day() const override { return {}; }

 private:
  class side;
  world& world_;
  network& network_;
  const bool restarts_;
  lease_server server_;
  std::vector<side*> sides_;  // by the client's number
};

}  // namespace holdfast::sim
