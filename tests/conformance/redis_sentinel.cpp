// Runs the suite against Redis behind a sentinel, the usual deployment, with grants that a replica must have.
#include "api/service.hpp"
#include "conformance/connection.hpp"
#include "conformance/redis_service.hpp"
#include "redis/lock/client.hpp"
#include "support/redis_group.hpp"

namespace holdfast::conformance {
namespace {

class behind_a_sentinel final : public service {
 public:
  behind_a_sentinel() { lose_state(); }

  store open(const open_options& options) override {
    const std::string url = servers().url("timeout=2s&wait_replicas=1&wait_timeout=1s");
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(url, loop)); };
    return detail::service::open(url, make, options);
  }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override { (void)servers().server(0).ask({"FLUSHALL"}); }
  void heal() override { cut_replies(0); }
  std::size_t names_left() override { return redis_service::names_left_at(servers().server(0)); }

 private:
  /// Sentinels take seconds to find their servers: one group for all tests.
  static test::redis_group& servers() {
    static test::redis_group all({.replicas = 1, .sentinels = 1});
    return all;
  }
  connections clients_;
};

const joined redis_sentinel_store("redis_sentinel", redis_service::promised,
                                  {power::cut_replies, power::share, power::numbers, power::oversee, power::lose_state,
                                   power::list_names},
                                  1200ms, [] { return std::make_unique<behind_a_sentinel>(); });

}  // namespace
}  // namespace holdfast::conformance
