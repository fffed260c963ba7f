#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/holdfast.hpp>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

/// Leases by the thread that acquired them.
using leases = std::vector<std::vector<holdfast::lease>>;
[[nodiscard]] leases take(holdfast::store&, std::size_t count, std::chrono::seconds ttl);

/// Returns the names of the lost leases.
[[nodiscard]] std::vector<std::string> lost_of(const leases&);

/// Returns the CPU time of this process.
[[nodiscard]] double cpu_seconds();

/// Watches every hundredth lease for this long. Returns how many seconds after a third of its ttl each renewal was
/// answered, sampled every 20 ms.
[[nodiscard]] std::vector<double> lateness_of(const leases&, std::chrono::seconds ttl, std::chrono::seconds length);

/// Holds many leases for three ttls, and measures the CPU time and the number of lost leases.
struct held_leases {
  std::string who;  ///< prefix of the figures
  std::string memory;
  std::size_t count;
  std::chrono::seconds ttl{10};
  double most_cpu = 0;  ///< percent of a core; 0: no bound
  void measure(holdfast::store&, std::vector<figure>&) const;
};

}  // namespace bench
