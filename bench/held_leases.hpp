#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/holdfast.hpp>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

/// By several threads, each with its own.
using leases = std::vector<std::vector<holdfast::lease>>;
[[nodiscard]] leases take(holdfast::store&, std::size_t count, std::chrono::seconds ttl);

/// Of those that are lost, the names.
[[nodiscard]] std::vector<std::string> lost_of(const leases&);

/// What this process has used.
[[nodiscard]] double cpu_seconds();

/// Watches every hundredth of them for so long: how many seconds later than a third of its ttl each renewal was
/// answered, as far as a look every 20 ms can tell.
[[nodiscard]] std::vector<double> lateness_of(const leases&, std::chrono::seconds ttl, std::chrono::seconds length);

/// Holds so many leases of a store for three ttls: what they cost this process, and whether any gets lost.
struct held_leases {
  std::string who;  ///< before the figures
  std::string memory;
  std::size_t count;
  std::chrono::seconds ttl{10};
  double most_cpu = 0;  ///< percent of a core; 0: any
  void measure(holdfast::store&, std::vector<figure>&) const;
};

}  // namespace bench
