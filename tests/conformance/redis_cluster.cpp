// A cluster takes part in the suite: three primaries, each behind a proxy that can lose messages.
#include "support/redis_cluster.hpp"
#include "api/service.hpp"
#include "conformance/connection.hpp"
#include "conformance/redis_service.hpp"
#include "conformance/suite.hpp"
#include "redis/lock/client.hpp"

namespace holdfast::conformance {
namespace {

/// One for all tests, since nodes take their time to get to know each other; empty for each.
class cluster_service final : public service {
 public:
  cluster_service() : nodes_(all()) { nodes_.flush(); }
  ~cluster_service() override { heal(); }

  store open(const open_options& options) override {
    const std::string url = nodes_.url("timeout=1s");
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(url, loop)); };
    return detail::service::open(url, make, options);
  }
  void fall_silent() override { treat(test::fault_proxy::way::to_server); }
  void lose_replies() override { treat(test::fault_proxy::way::to_client); }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override { nodes_.flush(); }
  void heal() override {
    for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_.proxy(n).heal();
    cut_replies(0);
  }
  std::size_t names_left() override {
    std::size_t left = nodes_.keys("*").size();
    for (const char* stays : {"*:f", "*:a", "*:b", "*:client:*", "*:n", "*:w"}) left -= nodes_.keys(stays).size();
    return left;
  }

 private:
  static test::redis_cluster& all() {
    static test::redis_cluster nodes({.proxies = true});
    return nodes;
  }
  void treat(test::fault_proxy::way way) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_.proxy(n).treat(way, test::fault_proxy::treatment::swallow);
  }
  test::redis_cluster& nodes_;
  connections clients_;
};

const joined redis_cluster_store("redis_cluster", redis_service::promised,
                                 {power::fall_silent, power::lose_replies, power::cut_replies, power::share,
                                  power::numbers, power::oversee, power::lose_state, power::list_names},
                                 1200ms, [] { return std::make_unique<cluster_service>(); });

}  // namespace
}  // namespace holdfast::conformance
