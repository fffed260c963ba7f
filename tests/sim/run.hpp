#pragma once
#include <cstdint>
#include <string>

namespace holdfast::sim {

struct result {
  std::string violation;  ///< empty: every invariant held
  std::uint64_t hash = 0;
  std::uint64_t operations = 0;  ///< acquires, renewals, releases, reads and writes that users asked for
  std::uint64_t granted = 0;
  std::uint64_t lost = 0;
  std::uint64_t faults = 0;
  std::uint64_t events = 0;
};

enum class store_kind {
  lease,     ///< a minimal store, made for the simulator: only the core is the product's
  redis,     ///< the product's client and scripts, on a simulated server
  replicas,  ///< as redis, on a primary with a replica that takes over, with or without its last writes
  redlock,   ///< as redis, over several independent servers
  numbers,   ///< latches and elections over a minimal store: see numbers.hpp
};

/// A whole world, from one seed: clients that drift, pause and crash, a network that loses, repeats and delays, a
/// server that restarts. Then it heals, and everything must come to rest.
[[nodiscard]] result run(std::uint64_t seed, store_kind, bool trace = false);

}  // namespace holdfast::sim
