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
#include "runtime/nursery.hpp"

namespace holdfast::redis {

/// The nodes of a cluster that we know, and which of them has which slot, as far as we know: as one of them said when
/// it was asked last, and what nodes that had lost a slot have said since. A node that has no slot any more is
/// forgotten, with its connections, once nobody uses it. From any thread.
class slot_map {
 public:
  /// Nobody is asked yet.
  slot_map(const settings&, const identity&, runtime::loop&, listener&);

  // Whoever is given a node keeps it from being forgotten.
  using user = std::shared_ptr<node>;
  /// Null: nobody does, or we do not know.
  [[nodiscard]] user has(std::uint16_t slot) const noexcept;
  [[nodiscard]] user at(const net::url::place&);
  /// By its serial. Null: it is forgotten.
  [[nodiscard]] user numbered(std::uint64_t serial) const noexcept;
  /// Those that have slots.
  [[nodiscard]] std::vector<std::string> primaries() const;
  /// Null: it is forgotten.
  [[nodiscard]] user named(const std::string& primary) const;

  /// Asks for the map, if it was never told. A failure: none of them has told us.
  runtime::task<std::optional<storage::failure>> make_sure(runtime::io&, limit);
  /// Asks for it anew, one node after the other. When it has changed the listener is told of servers that are back, and
  /// of each that has taken the place of another.
  runtime::task<std::optional<storage::failure>> draw(runtime::io&, limit);
  /// The same some time soon, once for all who want it, and nobody waits for it.
  void draw_soon() noexcept;
  /// The node that had a slot has sent us elsewhere.
  void learn(const redirection&);

  /// Nothing will be asked any more; from another thread than the loop's.
  void close() noexcept;

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  using routes = std::array<std::uint16_t, slots_of_a_cluster>;  // the number of the node that has it
  struct known {
    known() { route.fill(nobody); }
    template <class F>
    [[nodiscard]] user first(F is_wanted) const {
      for (const user& each : nodes) {
        if (each && is_wanted(*each)) return each;
      }
      return nullptr;
    }
    [[nodiscard]] std::vector<bool> with_slots() const;  // by number
    std::vector<user> nodes;                             // by number; null: it was forgotten, and the number is free
    routes route;
    bool mapped = false;
  };
  [[nodiscard]] std::vector<net::url::place> whom_to_ask() const;
  void learn(const std::vector<slot_range>&);
  void tell_of_changes(const routes& before, const routes& now) noexcept;
  runtime::task<void> draw_again();
  void forget_soon();
  runtime::task<void> forget();
  /// Puts those that may go into `leavers`. False: none is left of those that have no slots.
  [[nodiscard]] bool part_with_leavers(std::vector<user>& leavers);
  [[nodiscard]] bool is_seed(const node&) const noexcept;

  const settings settings_;
  const identity me_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  runtime::guarded<known> known_;
  std::atomic<std::uint64_t> nodes_made_{0};
  std::atomic<bool> drawing_{false};
  std::atomic<bool> forgetting_{false};
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
