// Redlock takes part in the suite, over three servers. They have just been started, so they vote young.
#include <array>
#include <string>

#include "api/service.hpp"
#include "conformance/connection.hpp"
#include "conformance/suite.hpp"
#include "quorum/client.hpp"
#include "redis/redlock/redlock.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {
namespace {

/// Every fault applies to all of its servers.
class redlock_service final : public service {
 public:
  store open(const open_options& options) override {
    const auto make = [&](runtime::loop& loop) {
      const redis::redlock all = redis::redlock::parse(url_);
      quorum::client::settings how{.max_ttl = all.max_ttl, .clock = clock};
      return clients_.add(std::make_unique<quorum::client>(all.open(loop), std::move(how), loop));
    };
    return detail::service::open(url_, make, options);
  }
  void fall_silent() override {
    for (one& each : servers_) {
      each.proxy.treat(test::fault_proxy::way::to_server, test::fault_proxy::treatment::swallow);
    }
  }
  void lose_replies() override {
    for (one& each : servers_) {
      each.proxy.treat(test::fault_proxy::way::to_client, test::fault_proxy::treatment::swallow);
    }
  }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override {
    for (one& each : servers_) (void)each.server.ask({"FLUSHALL"});
  }
  void heal() override {
    for (one& each : servers_) each.proxy.heal();
    cut_replies(0);
  }
  /// The last fence of a name stays for a day, and so does the record of a client.
  std::size_t names_left() override {
    std::size_t left = 0;
    for (one& each : servers_) {
      left += each.server.keys("*").size();
      for (const char* stays : {"*:f", "*:a", "*:b", "*:client:*"}) left -= each.server.keys(stays).size();
    }
    return left;
  }

 private:
  struct one {
    test::redis_server server;
    test::fault_proxy proxy{server.socket()};
  };
  static std::uint64_t clock() {
    const auto today = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(today).count());
  }
  std::array<one, 3> servers_;
  const std::string url_ = "redlock+unix://" + servers_[0].proxy.socket() + "," + servers_[1].proxy.socket() + "," +
                           servers_[2].proxy.socket() + "?timeout=1s&max_ttl=1h&young_nodes=vote";
  connections clients_;
};

const joined redlock_store(
    "redlock",
    {.by = guarantees::exclusion::lease, .fair = false, .survives_restart = false, .notices_death_at_once = false},
    {power::fall_silent, power::lose_replies, power::cut_replies, power::lose_state, power::list_names, power::oversee},
    1200ms, [] { return std::make_unique<redlock_service>(); });

}  // namespace
}  // namespace holdfast::conformance
