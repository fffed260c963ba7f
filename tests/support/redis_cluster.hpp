#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// A cluster of redis-servers, each in a folder of its own and on a free port: first the primaries, which share the
/// slots evenly, then the replicas. The constructor waits until it is ready; the destructor ends it.
class redis_cluster {
 public:
  struct shape {
    std::size_t primaries = 3;
    std::size_t replicas = 0;  ///< in all
    bool proxies = false;      ///< the nodes announce the ports of proxies to clients
    std::vector<std::string> options{};
    std::string password{};
    std::vector<std::string> first_environment{};  ///< of the first node: "NAME=value"
  };
  explicit redis_cluster(shape);
  redis_cluster() : redis_cluster(shape{}) {}

  /// "redis+cluster://host:port,...?OPTIONS" with all nodes.
  [[nodiscard]] std::string url(const std::string& options = {}, const std::string& who = {}) const;
  [[nodiscard]] std::string address(std::size_t node) const;
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] redis_server& node(std::size_t n) { return *nodes_.at(n)->server; }
  [[nodiscard]] fault_proxy& proxy(std::size_t n) { return *nodes_.at(n)->proxy; }
  [[nodiscard]] const std::string& id(std::size_t node) const { return nodes_.at(node)->id; }

  /// The primary that had the slot of this key at the start.
  [[nodiscard]] std::size_t home_of(std::string_view key) const;
  /// A name whose lock is at that primary.
  [[nodiscard]] std::string name_at(std::size_t primary, int n = 0) const;
  /// The live nodes that consider themselves primaries: the first ones at the start.
  [[nodiscard]] std::vector<std::size_t> primaries();
  /// The primary of this slot. Throws std::runtime_error if no node claims it now.
  [[nodiscard]] std::size_t owner_of(std::uint16_t slot);
  /// Sends a command to a node, with the password if there is one.
  redis::value ask(std::size_t node, std::vector<std::string> words);
  /// The keys of all primaries that match.
  [[nodiscard]] std::vector<std::string> keys(const std::string& pattern = "*");
  void flush();

  /// The steps of a slot migration: notify both primaries, move the keys, notify all nodes.
  void begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to);
  void move_keys(std::uint16_t slot, std::size_t from, std::size_t to, std::size_t most = 1'000);
  void end_move(std::uint16_t slot, std::size_t to);
  void move(std::uint16_t slot, std::size_t from, std::size_t to);
  /// Waits until all nodes, which must be alive, know the config epoch of every node. Before that no slot may be moved
  /// back: its old node would claim it again.
  void wait_until_moves_are_known();
  /// Clears the migration state of a slot, which may remain after a failover during its migration.
  void forget_move(std::uint16_t slot);

  /// Returns whether all live nodes report the state ok.
  [[nodiscard]] bool is_ok();
  /// Waits until it is well. Throws std::runtime_error with the views of the nodes if it hangs.
  void wait_until_ok();
  /// CLUSTER NODES of each node.
  [[nodiscard]] std::string views();

 private:
  struct member {
    std::unique_ptr<redis_server> server;
    std::unique_ptr<fault_proxy> proxy;
    int port = 0, bus = 0, known_by = 0;
    std::string id;
  };
  [[nodiscard]] std::unique_ptr<member> start() const;
  void demand(std::size_t node, std::vector<std::string> words);
  [[nodiscard]] std::string fact(std::size_t node, const std::vector<std::string>& question, const std::string& name);

  const shape shape_;
  std::vector<std::unique_ptr<member>> nodes_;
};

}  // namespace holdfast::test
