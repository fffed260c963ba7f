#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redis/cluster/cluster_map.hpp"
#include "redis/cluster/node.hpp"
#include "redis/protocol/slots.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/task_group.hpp"

namespace holdfast::redis {

/// The known nodes of a cluster, and which of them has which slot: as one of them said when it was asked last,
/// corrected by redirects since. A node without slots is forgotten, with its connections, when it is no longer in use.
/// From any thread.
class slot_map {
 public:
  /// Asks no node yet.
  slot_map(const settings&, const identity&, runtime::loop&, listener&);

  // A node is not forgotten while a pointer to it exists.
  using user = std::shared_ptr<node>;
  /// Null if no node has it, or it is not known.
  [[nodiscard]] user has(std::uint16_t slot) const noexcept;
  [[nodiscard]] user at(const net::endpoint&);
  /// Finds a node by its serial. Null if it is forgotten.
  [[nodiscard]] user numbered(std::uint64_t serial) const noexcept;
  /// The addresses of the nodes that have slots.
  [[nodiscard]] std::vector<std::string> primaries() const;
  /// Null if the node was forgotten.
  [[nodiscard]] user named(const std::string& primary) const;

  /// Loads the map if it was never loaded. Returns why no node could be asked.
  runtime::task<std::optional<storage::failure>> ensure_loaded(runtime::io&, limit);
  /// Loads it again, asking one node after the other. If it has changed, reports to the listener that servers are back,
  /// and which servers have taken the place of others.
  runtime::task<std::optional<storage::failure>> refresh(runtime::io&, limit);
  /// Loads it again in the background, once for all callers.
  void refresh_soon() noexcept;
  /// The node that had a slot has named another one.
  void apply_redirect(const redirection&);

  /// From any thread but the loop's. No call may follow.
  void close() noexcept;

 private:
  static constexpr std::uint16_t no_node = 0xffff;
  using routes = std::array<std::uint16_t, slots_of_a_cluster>;  // the number of the node that has the slot
  struct known {
    known() { route.fill(no_node); }
    template <class F>
    [[nodiscard]] user first(F is_wanted) const {
      for (const user& each : nodes) {
        if (each && is_wanted(*each)) return each;
      }
      return nullptr;
    }
    [[nodiscard]] std::vector<bool> with_slots() const;  // by number
    std::vector<user> nodes;                             // by number; null: forgotten, and the number is free
    routes route;
    bool mapped = false;
  };
  [[nodiscard]] std::vector<net::endpoint> nodes_to_ask() const;
  void apply(const std::vector<slot_range>&);
  void tell_of_changes(const routes& before, const routes& now) noexcept;
  runtime::task<void> refresh_and_pause();
  void forget_soon();
  runtime::task<void> forget();
  /// Moves nodes without slots that are not in use to `unused`. Returns false if no node without slots is left.
  [[nodiscard]] bool collect_unused(std::vector<user>& unused);
  [[nodiscard]] bool is_seed(const node&) const noexcept;

  const settings settings_;
  const identity me_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  runtime::guarded<known> known_;
  std::atomic<std::uint64_t> nodes_made_{0};
  std::atomic<bool> refreshing_{false};
  std::atomic<bool> forgetting_{false};
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
