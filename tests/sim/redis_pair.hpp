#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/redis_server.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// A primary and its replica. What the primary writes arrives at the replica later, in order. When the replica takes
/// over, what had not arrived is lost; the former primary comes back as its replica, with its data.
class redis_pair {
 public:
  redis_pair(world&, drifting_clock first, drifting_clock second, redis_server::choices);

  /// The one that takes writes, as the sentinels say; null: it is dead, and they have not noticed.
  [[nodiscard]] redis_server* primary() { return dead_ ? nullptr : servers_[primary_].get(); }
  [[nodiscard]] redis_server& last_primary() { return *servers_[primary_]; }
  [[nodiscard]] redis_server& replica() { return *servers_[1 - primary_]; }
  [[nodiscard]] std::array<const redis_server*, 2> both() const { return {servers_[0].get(), servers_[1].get()}; }
  /// Receives what a primary grants and renews.
  void tell(known_grants&);
  /// The number of changes of the primary.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  /// Until then no data arrives at the replica.
  void lag_until(real when);
  /// The primary dies; after the outage the replica takes over.
  void die(real outage);
  /// The replica takes over at once. The former primary learns of it after that time, and accepts writes until then.
  void hand_over(real overlap);
  [[nodiscard]] bool is_changing() const noexcept { return dead_ || !in_step_; }
  std::function<void()> on_change = [] {};  ///< there is another primary
  /// Told of every run of a script at one of them; for checks.
  std::function<void(const redis_server&, const redis_server::script_run&)> on_script =
      [](const redis_server&, const redis_server::script_run&) {};

 private:
  void pass_on(std::size_t from);
  void arrived(std::uint64_t change, std::uint64_t written, const redis_keys&);
  void promote();
  void follow();

  world& world_;
  std::unique_ptr<redis_server> servers_[2];
  std::size_t primary_ = 0;
  bool dead_ = false;
  bool in_step_ = true;  // there is a replica that receives every write
  std::uint64_t changes_ = 0;
  real lags_until_{0}, last_arrival_{0}, died_{0};
};

}  // namespace holdfast::sim
