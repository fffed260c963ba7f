#include <array>
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr const char* service = "locks";

/// Returns the reply; empty if the server is down or does not answer now.
std::string ask(std::optional<bare_socket>& way, int port, const std::vector<std::string>& words) {
  try {
    if (!way) way.emplace(port);
    return way->ask(resp(words));
  } catch (const std::runtime_error&) {  // a replica that is promoted closes its connections
    way.reset();
    return {};
  }
}

/// A primary with a replica, and three sentinels.
class group {
 public:
  group() {
    const std::vector<std::string> options = {"--repl-diskless-sync-delay", "0"};
    primary_ = std::make_unique<redis_server>(options);
    replica_ = std::make_unique<redis_server>(options);
    const std::string at = "127.0.0.1 " + std::to_string(primary_->port());
    (void)bare_socket(replica_->port()).ask(resp({"REPLICAOF", "127.0.0.1", std::to_string(primary_->port())}));
    const std::string name = service;
    const std::string lines = "sentinel monitor " + name + " " + at + " 2\nsentinel down-after-milliseconds " + name +
                              " 1000\nsentinel failover-timeout " + name + " 6000\n";
    for (auto& each : sentinels_) each = std::make_unique<redis_server>(std::vector<std::string>{"--sentinel"}, lines);
    for (const auto& each : sentinels_) {
      wait_for(each->port(), {"SENTINEL", "MASTER", name}, "num-slaves\r\n$1\r\n1\r\n");
      wait_for(each->port(), {"SENTINEL", "MASTER", name}, "num-other-sentinels\r\n$1\r\n2\r\n");
    }
    wait_for(replica_->port(), {"INFO", "replication"}, "master_link_status:up");
  }
  [[nodiscard]] std::string url() const {
    std::string all = "redis+sentinel://";
    for (const auto& each : sentinels_) {
      all.append(all.ends_with('/') ? "" : ",").append("127.0.0.1:").append(std::to_string(each->port()));
    }
    return all + "/" + service;
  }
  void kill_primary() { primary_->kill(); }
  [[nodiscard]] bool replica_leads(std::optional<bare_socket>& way) const {
    return ask(way, replica_->port(), {"ROLE"}).find("master") != std::string::npos;
  }
  /// Returns whether a sentinel reports the replica as the primary.
  [[nodiscard]] bool replica_is_named(std::array<std::optional<bare_socket>, 3>& ways) const {
    const std::string port = "\r\n" + std::to_string(replica_->port()) + "\r\n";
    for (std::size_t n = 0; n < sentinels_.size(); ++n) {
      const std::string said = ask(ways[n], sentinels_[n]->port(), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
      if (said.find(port) != std::string::npos) return true;
    }
    return false;
  }

 private:
  static void wait_for(int port, const std::vector<std::string>& question, const std::string& part) {
    std::optional<bare_socket> way;
    for (int tries = 0; ask(way, port, question).find(part) == std::string::npos; ++tries) {
      if (tries == 3'000) throw std::runtime_error("the servers do not find each other");
      std::this_thread::sleep_for(10ms);
    }
  }
  std::unique_ptr<redis_server> primary_, replica_;
  std::array<std::unique_ptr<redis_server>, 3> sentinels_;
};

struct times {
  double leads, named, granted;  // seconds
};

/// Kills the primary while a client acquires a lock.
times fail_over() {
  group all;
  holdfast::open_options patient;
  patient.patience = 60s;
  holdfast::store store = holdfast::open(all.url(), patient);
  {
    const holdfast::lease first = store.acquire("warm up");
  }
  times seen{};
  all.kill_primary();
  std::thread asks([&] {
    const holdfast::lease got = store.acquire("a");
    seen.granted = now().count();
  });
  std::optional<bare_socket> replica;
  std::array<std::optional<bare_socket>, 3> sentinels;
  while (seen.leads == 0 || seen.named == 0) {
    if (seen.leads == 0 && all.replica_leads(replica)) seen.leads = now().count();
    if (seen.named == 0 && all.replica_is_named(sentinels)) seen.named = now().count();
    std::this_thread::sleep_for(2ms);
  }
  asks.join();
  return seen;
}

}  // namespace

void redis_failover(std::vector<figure>& all) {
  std::vector<double> granted, named;
  for (int run = 0; run < 7; ++run) {
    const times seen = fail_over();
    granted.push_back(1e3 * (seen.granted - seen.leads));
    named.push_back(1e3 * (seen.named - seen.leads));
  }
  const double in_all = median(granted);
  all.push_back(
      {"failover, from the new primary leads to the next grant, median", in_all, "ms", "at most 300", in_all <= 300});
  all.push_back({"failover, the same, worst of 7", at_share(granted, 1), "ms"});
  all.push_back({"failover, from the new primary leads to a sentinel names it, median", median(named), "ms"});
}

}  // namespace bench
