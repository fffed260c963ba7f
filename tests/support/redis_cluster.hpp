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

/// A cluster of redis-servers of our own, each in a folder of its own, on free ports: first the primaries, which share
/// the slots evenly, then the replicas, one after the other. Ready when it is made; gone at the end of the scope.
class redis_cluster {
 public:
  struct shape {
    std::size_t primaries = 3;
    std::size_t replicas = 0;  ///< in all
    bool proxies = false;      ///< clients know the nodes by the ports of proxies that stand before them
    std::vector<std::string> options{};
    std::string password{};
    std::vector<std::string> first_environment{};  ///< of the first node: "NAME=value"
  };
  explicit redis_cluster(shape);
  redis_cluster() : redis_cluster(shape{}) {}

  /// "redis+cluster://host:port,...?" with all nodes, and more options, which may be empty.
  [[nodiscard]] std::string url(const std::string& options = {}, const std::string& who = {}) const;
  [[nodiscard]] std::string address(std::size_t node) const;
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] redis_server& node(std::size_t n) { return *nodes_.at(n)->server; }
  [[nodiscard]] fault_proxy& proxy(std::size_t n) { return *nodes_.at(n)->proxy; }
  [[nodiscard]] const std::string& id(std::size_t node) const { return nodes_.at(node)->id; }

  /// The primary that has the slot of this key, as it was when all began.
  [[nodiscard]] std::size_t home_of(std::string_view key) const;
  /// A name whose lock lies there.
  [[nodiscard]] std::string name_at(std::size_t primary, int n = 0) const;
  /// Those that live and call themselves primaries. In the beginning, the first ones.
  [[nodiscard]] std::vector<std::size_t> primaries();
  /// The primary that says so of this slot. Throws std::runtime_error when there is none right now.
  [[nodiscard]] std::size_t owner_of(std::uint16_t slot);
  /// Asks a node, with the password if there is one.
  redis::value ask(std::size_t node, std::vector<std::string> words);
  /// The keys that match, of all primaries.
  [[nodiscard]] std::vector<std::string> keys(const std::string& pattern = "*");
  void flush();

  /// Steps of moving a slot from one primary to another: both know of it; its keys go; all know that it has moved.
  void begin_to_move(std::uint16_t slot, std::size_t from, std::size_t to);
  void move_keys(std::uint16_t slot, std::size_t from, std::size_t to, std::size_t most = 1'000);
  void end_move(std::uint16_t slot, std::size_t to);
  void move(std::uint16_t slot, std::size_t from, std::size_t to);
  /// Until all nodes, which live, know how often each has taken slots. Before that none should go back to where it came
  /// from: its old node would claim it once more, and believe that it may.
  void wait_until_moves_are_known();
  /// No primary takes it for one that is on its way, as it may after a move that a failover has crossed.
  void forget_move(std::uint16_t slot);

  /// All nodes that live say that all is well.
  [[nodiscard]] bool is_ok();
  /// Until it is. Throws std::runtime_error with their views if it never is.
  void wait_until_ok();
  /// What each node sees of the others.
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
