#include "support/redis_group.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"

namespace holdfast::test {

namespace {

/// Starts a server at a free port, and at another one if a process takes that port in between.
std::pair<std::unique_ptr<redis_server>, int> started(std::vector<std::string> options,
                                                      const std::string& configuration,
                                                      const std::vector<std::string>& environment = {}) {
  options.insert(options.end(), {"--bind", "127.0.0.1", "--port", ""});
  for (int tries = 0;; ++tries) {
    const int port = free_port();
    options.back() = std::to_string(port);
    try {
      return {std::make_unique<redis_server>(options, configuration, environment), port};
    } catch (const std::runtime_error&) {
      if (tries == 5) throw;
    }
  }
}

/// The value of a name in a flat list of names and values.
std::string field(const redis::value& all, std::string_view name) {
  for (std::size_t n = 0; n + 1 < all.items.size(); n += 2) {
    if (all.items[n].text == name) return all.items[n + 1].text;
  }
  return {};
}

}  // namespace

redis_group::redis_group(const shape& s) : shape_(s) {
  // By default a replication waits for 5 s for further replicas.
  std::vector<std::string> options = {"--repl-diskless-sync-delay", "0"};
  options.insert(options.end(), s.server_options.begin(), s.server_options.end());
  for (std::size_t n = 0; n <= s.replicas; ++n) {
    auto [is, port] = started(options, {}, n == 0 ? s.first_environment : std::vector<std::string>());
    servers_.push_back({std::move(is), port});
    if (n != 0) (void)server(n).ask({"REPLICAOF", "127.0.0.1", std::to_string(port_of_server(0))});
  }
  const std::string quorum = std::to_string(s.sentinels / 2 + 1);
  const std::string name = service;
  std::string lines = "sentinel monitor " + name + " 127.0.0.1 " + std::to_string(port_of_server(0)) + " " + quorum +
                      "\nsentinel down-after-milliseconds " + name + " " + std::to_string(s.down_after.count()) +
                      "\nsentinel failover-timeout " + name + " 6000\nsentinel parallel-syncs " + name + " 2\n";
  if (!s.sentinel_password.empty()) lines += "requirepass " + s.sentinel_password + "\n";
  for (std::size_t n = 0; n < s.sentinels; ++n) {
    auto [is, port] = started({"--sentinel"}, lines);
    sentinels_.push_back({std::move(is), port});
  }
  if (!eventually([&] { return is_ready(); })) throw std::runtime_error("the servers do not find each other");
  // A replica that is online may not have acknowledged anything yet.
  (void)server(0).ask({"SET", "in step", "?"});
  if (!eventually([&] { return have_all("in step"); })) throw std::runtime_error("the replicas do not follow");
  (void)server(0).ask({"DEL", "in step"});
}

bool redis_group::have_all(const std::string& key) const {
  return std::ranges::all_of(servers_, [&](const member& each) { return !each.is->keys(key).empty(); });
}

redis::value redis_group::ask_sentinel(std::size_t n, std::vector<std::string> words) const {
  return sentinels_[n].is->ask(std::move(words), shape_.sentinel_password);
}

bool redis_group::is_ready() const {
  for (std::size_t n = 0; n < sentinels_.size(); ++n) {
    if (!is_ready(n)) return false;
  }
  const std::string text = servers_[0].is->ask({"INFO", "replication"}).text;
  std::size_t online = 0;
  for (std::size_t at = 0; (at = text.find("state=online", at)) != std::string::npos; ++at) ++online;
  return online == shape_.replicas;
}

bool redis_group::is_ready(std::size_t sentinel) const {
  const redis::value known = ask_sentinel(sentinel, {"SENTINEL", "MASTER", service});
  return field(known, "num-slaves") == std::to_string(shape_.replicas) &&
         field(known, "num-other-sentinels") == std::to_string(shape_.sentinels - 1) &&
         field(known, "flags") == "master";
}

bool redis_group::is_replica(std::size_t n) const {
  try {
    return servers_[n].is->ask({"INFO", "replication"}).text.find("role:slave") != std::string::npos;
  } catch (const std::runtime_error&) {  // a sentinel that demotes it closes all its connections
    return false;
  }
}

std::size_t redis_group::primary() const {
  for (std::size_t n = 0; n < sentinels_.size(); ++n) {
    try {
      const redis::value at = ask_sentinel(n, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
      for (std::size_t which = 0; which < servers_.size(); ++which) {
        if (at.items.size() == 2 && at.items[1].text == std::to_string(servers_[which].port)) return which;
      }
    } catch (const std::runtime_error&) {  // ask the next sentinel
    }
  }
  throw std::runtime_error("no sentinel knows the primary");
}

std::string redis_group::url(const std::string& options, const std::string& who) const {
  std::string all;
  for (const member& each : sentinels_) {
    all.append(all.empty() ? "" : ",").append("127.0.0.1:").append(std::to_string(each.port));
  }
  return "redis+sentinel://" + who + all + "/" + service + "?" + options;
}

void redis_group::cut_off(std::size_t replica) {
  (void)server(replica).ask({"CONFIG", "SET", "masteruser", "nobody", "masterauth", "x"});
  (void)server(replica).ask({"CLIENT", "KILL", "TYPE", "master"});
  const auto is_down = [&] {
    return server(replica).ask({"INFO", "replication"}).text.find("master_link_status:down") != std::string::npos;
  };
  if (!eventually(is_down)) throw std::runtime_error("the replica does not lose its primary");
}

bool redis_group::is_tilted() const {
  for (std::size_t n = 0; n < sentinels_.size(); ++n) {
    try {
      if (ask_sentinel(n, {"INFO", "sentinel"}).text.find("sentinel_tilt:0") == std::string::npos) return true;
    } catch (const std::runtime_error&) {  // a test may have killed it
    }
  }
  return false;
}

bool redis_group::is_replaced(std::size_t primary_before) const {
  const auto done = [&] { return primary() != primary_before; };
  while (!eventually(done)) {
    if (!is_tilted()) return false;
  }
  return true;
}

void redis_group::fail_over() {
  const std::size_t before = primary();
  const std::size_t last = sentinels_.size() - 1;
  // Sentinels refuse a failover shortly after another one, and abandon one that is too slow, as on a busy machine. Then
  // it is started again.
  const auto is_done = [&] {
    const redis::value known = ask_sentinel(last, {"SENTINEL", "MASTER", service});
    const bool idle = field(known, "flags").find("failover_in_progress") == std::string::npos;
    if (idle && field(known, "port") == std::to_string(servers_[before].port)) {
      (void)ask_sentinel(last, {"SENTINEL", "FAILOVER", service});
    }
    return primary() != before;
  };
  while (!eventually(is_done)) {
    if (!is_tilted()) throw std::runtime_error("the sentinels do not change the primary");
  }
}

}  // namespace holdfast::test
