#include "sim/lease_service.hpp"

#include <algorithm>

namespace holdfast::sim {

using namespace std::chrono_literals;

class lease_service::side final : public access {
 public:
  side(lease_service& s, client_io& loop, int id)
      : remote_(s.network_, s.server_, loop, id), store_(s.world_, remote_) {}
  [[nodiscard]] watchful& store() override { return store_; }
  void crash() override {
    remote_.crash();
    store_.over = crashed_ = true;
  }
  [[nodiscard]] std::size_t waiting() const override { return remote_.waiting(); }
  [[nodiscard]] bool crashed() const { return crashed_; }
  void pushed(storage::owner_id owner) { remote_.pushed(owner); }

 private:
  bool crashed_ = false;
  remote remote_;
  watchful store_;
};

lease_service::lease_service(world& w, network& n, double clock_rate, bool restarts)
    : world_(w),
      network_(n),
      restarts_(restarts),
      server_(w, drifting_clock(w, clock_rate, 5000s),
              [this](int to, storage::owner_id owner) { sides_.at(static_cast<std::size_t>(to))->pushed(owner); }) {}

std::unique_ptr<access> lease_service::connect(client_io& loop) {
  auto made = std::make_unique<side>(*this, loop, static_cast<int>(sides_.size()));
  sides_.push_back(made.get());
  return made;
}

const std::vector<std::chrono::milliseconds>& lease_service::ttls() const {
  static const std::vector<std::chrono::milliseconds> all = {60ms, 150ms, 400ms};
  return all;
}

std::uint64_t lease_service::trouble(access& /*victim*/) {
  if (!restarts_ || !world_.chance(0.1)) return 0;
  server_.restart_empty();
  return 1;
}

real lease_service::rest() const { return 2 * ttls().back() + lease_server::place_ttl; }

std::string lease_service::leftovers() {
  for (std::size_t n = 0; n < sides_.size(); ++n) {
    if (sides_[n]->crashed()) server_.forget_client(static_cast<int>(n));
  }
  return server_.leftovers();
}

}  // namespace holdfast::sim
