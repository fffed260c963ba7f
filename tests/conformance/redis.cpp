// Redis takes part in the suite: a real server, and between it and the clients a proxy that loses what it is told to.
#include "conformance/connection.hpp"
#include "conformance/suite.hpp"
#include "redis/client.hpp"
#include "service.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {
namespace {

using test::fault_proxy;

constexpr guarantees promised{
    .by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};

class redis_service final : public service {
 public:
  store open(const open_options& options) override {
    const std::string url = "redis+unix://" + proxy_.socket() + "?timeout=300ms";
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(url, loop)); };
    return detail::service::open(url, make, options);
  }

  void fall_silent() override { proxy_.treat(fault_proxy::way::to_server, fault_proxy::treatment::swallow); }
  void lose_replies() override { proxy_.treat(fault_proxy::way::to_client, fault_proxy::treatment::swallow); }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override { (void)server_.ask({"FLUSHALL"}); }
  void heal() override {
    proxy_.heal();
    cut_replies(0);
  }
  /// The last fence of a name stays for a day.
  std::size_t names_left() override { return server_.keys("*").size() - server_.keys("*:f").size(); }

 private:
  test::redis_server server_;
  fault_proxy proxy_{server_.socket()};
  connections clients_;
};

const joined redis_store("redis", promised,
                         {power::fall_silent, power::lose_replies, power::cut_replies, power::lose_state,
                          power::list_names},
                         300ms, [] { return std::make_unique<redis_service>(); });

}  // namespace
}  // namespace holdfast::conformance
