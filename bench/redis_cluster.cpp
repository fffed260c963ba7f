#include "redis_cluster.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

void demand(const bare_socket& node, const std::vector<std::string>& words) {
  const std::string said = node.ask(resp(words));
  if (said != "+OK\r\n") throw std::runtime_error(words[1] + ": " + said);
}

}  // namespace

redis_cluster::redis_cluster(std::size_t primaries) {
  std::vector<std::string> buses;
  for (std::size_t n = 0; n < primaries; ++n) {
    buses.push_back(std::to_string(free_port()));
    const std::vector<std::string> options = {
        "--cluster-enabled", "yes", "--cluster-port", buses.back(), "--cluster-require-full-coverage", "no"};
    nodes_.push_back(std::make_unique<redis_server>(options));
  }
  for (std::size_t n = 0; n < primaries; ++n) {
    const bare_socket node(nodes_[n]->port());
    demand(node, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(n + 1)});
    demand(node,
           {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot_of(n)), std::to_string(first_slot_of(n + 1) - 1)});
    for (std::size_t other = 0; other < n; ++other) {
      demand(node, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[other]->port()), buses[other]});
    }
  }
  for (const auto& each : nodes_) {
    const bare_socket node(each->port());
    for (int tries = 0;; ++tries) {
      const std::string said = node.ask(resp({"CLUSTER", "INFO"}));
      const bool all = said.find("cluster_slots_ok:16384") != std::string::npos;
      if (all && said.find("cluster_state:ok") != std::string::npos) break;
      if (tries == 3'000) throw std::runtime_error("the nodes do not become a cluster");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

std::string redis_cluster::url() const {
  std::string all;
  for (const auto& each : nodes_) {
    all.append(all.empty() ? "redis+cluster://" : ",").append("127.0.0.1:").append(std::to_string(each->port()));
  }
  return all;
}

std::vector<std::size_t> redis_cluster::homes_of(const std::vector<std::string>& names, std::size_t asked) const {
  const bare_socket node(nodes_[asked]->port());
  std::vector<std::size_t> homes;
  for (const std::string& name : names) {
    const std::string said = node.ask(resp({"CLUSTER", "KEYSLOT", "holdfast:{" + name + "}"}));  // ":<slot>"
    const std::size_t slot = std::stoul(said.substr(1));
    homes.push_back(0);
    while (slot >= first_slot_of(homes.back() + 1)) ++homes.back();
  }
  return homes;
}

}  // namespace bench
