// One server with persistence, and Redlock over three and over five servers that never die, on a network that drops
// packets in one direction or both. It needs a machine that allows network namespaces: see tests/partitions.
#include <memory>

#include "chaos/redis_faults.hpp"
#include "support/private_network.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using way = test::private_network::way;

/// Clients use two addresses for each server.
constexpr const char* addresses[] = {"127.0.0.1", "127.0.0.2"};

struct remote_server {
  const int port = test::free_port();
  test::redis_server server{{"--port", std::to_string(port), "--bind", addresses[0], addresses[1]}};
};

class partitioned : public topology {
 public:
  explicit partitioned(std::size_t many) {
    for (std::size_t n = 0; n < many; ++n) servers_.push_back(std::make_unique<remote_server>());
  }

  std::string url(unsigned client) const override {
    std::string all;
    for (const auto& each : servers_) {
      all.append(all.empty() ? "" : ",").append(addresses[client % 2]).append(":").append(std::to_string(each->port));
    }
    const std::string options = "?timeout=250ms&connect_timeout=500ms";
    return shares() ? "redis://" + all + options : "redlock://" + all + options + "&max_ttl=2s&young_nodes=vote";
  }
  promises promised() const override { return {}; }
  bool shares() const override { return servers_.size() == 1; }
  std::string naive_sockets() const override { return servers_[0]->server.socket(); }

  std::vector<fault> faults() override {
    std::vector<fault> all;
    for (const auto& each : servers_) {
      for (const char* const address : addresses) {
        const int port = each->port;
        const std::string part = std::string(address) + ":" + std::to_string(port);
        const auto lose = [&](const std::string& name, std::vector<way> ways) {
          all.push_back({.name = name,
                         .part = part,
                         .begin =
                             [this, ways = std::move(ways), address, port](choices&) {
                               for (const way w : ways) network_.drop(w, address, port);
                             },
                         .end = [this, address, port] { network_.heal(address, port); },
                         .longest = 2s});
        };
        lose("lost_requests", {way::to_server});
        lose("lost_replies", {way::to_client});
        lose("cut_off", {way::to_server, way::to_client});
      }
    }
    return all;
  }

  std::vector<std::string> leftovers() override {
    return at_each(servers_, [](const auto& each) { return locks_at(each->server); });
  }

 private:
  test::private_network network_;
  std::vector<std::unique_ptr<remote_server>> servers_;
};

const registered one{"partition_redis", [] { return std::make_unique<partitioned>(1); }};
const registered three{"partition_redlock_3", [] { return std::make_unique<partitioned>(3); }};
const registered five{"partition_redlock_5", [] { return std::make_unique<partitioned>(5); }};

}  // namespace
}  // namespace holdfast::chaos
