#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/holdfast.hpp>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

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
