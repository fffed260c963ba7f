#include "support/redis_cluster.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "redis/protocol/keys.hpp"
#include "redis/protocol/slots.hpp"
#include "support/bounds.hpp"

namespace holdfast::test {

namespace {

std::uint16_t first_slot_of(std::size_t n, std::size_t primaries) {
  return static_cast<std::uint16_t>(n * redis::slots_of_a_cluster / primaries);
}

template <class F>
[[nodiscard]] bool comes(F condition) {
  const auto end = std::chrono::steady_clock::now() + hang;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace

std::unique_ptr<redis_cluster::member> redis_cluster::start() const {
  for (int tries = 0;; ++tries) {
    auto made = std::make_unique<member>();
    made->port = free_port();
    made->bus = free_port();
    made->known_by = shape_.proxies ? free_port() : made->port;
    std::vector<std::string> options = {"--port", std::to_string(made->port), "--bind", "127.0.0.1"};
    options.insert(options.end(), {"--cluster-enabled", "yes", "--cluster-node-timeout", "1500"});
    options.insert(options.end(), {"--cluster-port", std::to_string(made->bus), "--repl-diskless-sync-delay", "0"});
    if (shape_.proxies) {
      options.insert(options.end(),
                     {"--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", std::to_string(made->known_by),
                      "--cluster-announce-bus-port", std::to_string(made->bus)});
    }
    if (!shape_.password.empty()) {
      options.insert(options.end(), {"--requirepass", shape_.password, "--masterauth", shape_.password});
    }
    options.insert(options.end(), shape_.options.begin(), shape_.options.end());
    try {
      const bool first = nodes_.empty();
      made->server = std::make_unique<redis_server>(options, std::string(),
                                                    first ? shape_.first_environment : std::vector<std::string>());
      if (shape_.proxies) made->proxy = std::make_unique<fault_proxy>(made->server->socket(), made->known_by);
      return made;
    } catch (const std::runtime_error&) {  // another process has the port
      if (tries == 4) throw;
    }
  }
}

redis_cluster::redis_cluster(shape s) : shape_(std::move(s)) {
  for (std::size_t n = 0; n < shape_.primaries + shape_.replicas; ++n) nodes_.push_back(start());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    demand(n, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(n + 1)});
    nodes_[n]->id = ask(n, {"CLUSTER", "MYID"}).text;
  }
  for (std::size_t n = 0; n < shape_.primaries; ++n) {
    const int last = first_slot_of(n + 1, shape_.primaries) - 1;
    demand(n, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot_of(n, shape_.primaries)), std::to_string(last)});
  }
  for (std::size_t n = 1; n < nodes_.size(); ++n) {
    for (std::size_t other = 0; other < n; ++other) {
      const member& met = *nodes_[other];
      demand(n, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(met.port), std::to_string(met.bus)});
    }
  }
  const bool met = comes([&] {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (fact(n, {"CLUSTER", "INFO"}, "cluster_known_nodes") != std::to_string(nodes_.size())) return false;
      // After CLUSTER MEET a node has a temporary id until it has sent its own.
      const std::string all = ask(n, {"CLUSTER", "NODES"}).text;
      if (all.find("handshake") != std::string::npos || all.find("noaddr") != std::string::npos) return false;
    }
    return true;
  });
  if (!met) throw std::runtime_error("nodes that do not know each other: " + views());
  for (std::size_t n = shape_.primaries; n < nodes_.size(); ++n)
    demand(n, {"CLUSTER", "REPLICATE", nodes_[(n - shape_.primaries) % shape_.primaries]->id});
  wait_until_ok();
}

void redis_cluster::wait_until_ok() {
  if (!comes([&] { return is_ok(); })) throw std::runtime_error("a cluster that is not well: " + views());
}

std::string redis_cluster::views() {
  std::string all;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n]->server->pid() < 0) continue;
    all += "\nnode " + std::to_string(n) + ", " + fact(n, {"CLUSTER", "INFO"}, "cluster_state") + ", link " +
           fact(n, {"INFO", "replication"}, "master_link_status") + "\n" + ask(n, {"CLUSTER", "NODES"}).text;
  }
  return all;
}

bool redis_cluster::is_ok() {
  std::size_t living = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n]->server->pid() < 0) continue;
    ++living;
    if (fact(n, {"CLUSTER", "INFO"}, "cluster_state") != "ok") return false;
    if (fact(n, {"CLUSTER", "INFO"}, "cluster_slots_ok") != "16384") return false;
    const std::string link = fact(n, {"INFO", "replication"}, "master_link_status");
    if (!link.empty() && link != "up") return false;
  }
  std::size_t connected = 0;
  for (const std::size_t n : primaries()) {
    connected += static_cast<std::size_t>(std::stoi("0" + fact(n, {"INFO", "replication"}, "connected_slaves")));
  }
  return living < nodes_.size() || connected == shape_.replicas;
}

std::vector<std::size_t> redis_cluster::primaries() {
  std::vector<std::size_t> found;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n]->server->pid() >= 0 && fact(n, {"INFO", "replication"}, "role") == "master") found.push_back(n);
  }
  return found;
}

std::size_t redis_cluster::owner_of(std::uint16_t slot) {
  for (const std::size_t n : primaries()) {
    for (const redis::value& range : ask(n, {"CLUSTER", "SLOTS"}).items) {  // first and last slot, and their nodes
      const bool has = range.items.at(0).number <= slot && slot <= range.items.at(1).number;
      if (has && range.items.at(2).items.at(2).text == id(n)) return n;
    }
  }
  throw std::runtime_error("no node has slot " + std::to_string(slot));
}

std::string redis_cluster::url(const std::string& options, const std::string& who) const {
  std::string hosts;
  for (std::size_t n = 0; n < nodes_.size(); ++n) hosts.append(n == 0 ? "" : ",").append(address(n));
  return "redis+cluster://" + who + hosts + "?" + options;
}

std::string redis_cluster::address(std::size_t node) const {
  return "127.0.0.1:" + std::to_string(nodes_.at(node)->known_by);
}

std::size_t redis_cluster::home_of(std::string_view key) const {
  const std::uint16_t slot = redis::slot_of(key);
  for (std::size_t n = 0;; ++n) {
    if (slot < first_slot_of(n + 1, shape_.primaries)) return n;
  }
}

std::string redis_cluster::name_at(std::size_t primary, int n) const {
  for (int tries = 0;; ++tries) {
    std::string name = "name/" + std::to_string(tries);
    if (home_of(redis::keys("holdfast:", name).lock) == primary && n-- == 0) return name;
  }
}

redis::value redis_cluster::ask(std::size_t node, std::vector<std::string> words) {
  return nodes_.at(node)->server->ask(words, shape_.password);
}

void redis_cluster::demand(std::size_t node, std::vector<std::string> words) {
  const redis::value v = ask(node, words);
  if (v.is(redis::value::kind::error)) throw std::runtime_error(words[0] + " " + words[1] + ": " + v.text);
}

std::string redis_cluster::fact(std::size_t node, const std::vector<std::string>& question, const std::string& name) {
  const std::string text = "\n" + ask(node, question).text;
  const std::size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('\r', begin) - begin);
}

std::vector<std::string> redis_cluster::keys(const std::string& pattern) {
  std::vector<std::string> found;
  for (const std::size_t n : primaries()) {
    for (const redis::value& key : ask(n, {"KEYS", pattern}).items) found.push_back(key.text);
  }
  return found;
}

void redis_cluster::flush() {
  for (const std::size_t n : primaries()) demand(n, {"FLUSHALL", "SYNC"});
}

void redis_cluster::begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to) {
  demand(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)});
  demand(from, {"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(to)});
}

void redis_cluster::move_keys(std::uint16_t slot, std::size_t from, std::size_t to, std::size_t most) {
  const redis::value keys = ask(from, {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), std::to_string(most)});
  for (const redis::value& key : keys.items) {
    const std::string port = std::to_string(nodes_.at(to)->port);
    demand(from, {"MIGRATE", "127.0.0.1", port, key.text, "0", "5000", "REPLACE"});
  }
}

void redis_cluster::end_move(std::uint16_t slot, std::size_t to) {
  demand(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
  for (const std::size_t n : primaries()) {
    if (n != to) demand(n, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
  }
}

void redis_cluster::move(std::uint16_t slot, std::size_t from, std::size_t to) {
  begin_to_move(slot, from, to);
  // A lock that is acquired meanwhile is acquired at the new node, or not at all.
  while (!ask(from, {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1"}).items.empty()) move_keys(slot, from, to);
  end_move(slot, to);
}

void redis_cluster::wait_until_moves_are_known() {
  const auto known = [&] {
    for (std::size_t of = 0; of < nodes_.size(); ++of) {
      const std::string epoch = fact(of, {"CLUSTER", "INFO"}, "cluster_my_epoch");
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const std::string all = ask(n, {"CLUSTER", "NODES"}).text;
        std::istringstream line(all.substr(all.find(id(of))));
        std::string field;
        for (int k = 0; k < 7; ++k) line >> field;  // id, address, flags, primary, ping, pong, epoch
        if (field != epoch) return false;
      }
    }
    return true;
  };
  if (!comes(known)) throw std::runtime_error("nodes do not learn of moved slots: " + views());
}

void redis_cluster::forget_move(std::uint16_t slot) {
  for (const std::size_t n : primaries()) (void)ask(n, {"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
}

}  // namespace holdfast::test
