#pragma once
#include <cstdint>

#include "sim/network.hpp"
#include "sim/run.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// Which faults there are in one run, and how many of everything.
struct plan {
  explicit plan(world&);
  /// With what there is in a store of that kind.
  [[nodiscard]] static plan of(store_kind, world&);

  std::uint64_t clients, users, names, operations;
  unsigned burst;
  double drift;
  bool pauses, crashes, blocking, restarts;
  bool quiet;                  ///< nothing goes wrong at all
  double readers;              ///< the share of lock users that only read
  std::uint32_t permits;       ///< of the semaphore; 0: no semaphore
  std::uint32_t more_permits;  ///< how many some say there are, and how many there are after a resize; or the same
  bool several;                ///< some want all locks at once
  bool unfair;                 ///< some take what is free, though others wait
  bool delays;                 ///< some have a lock delay
  bool breaks;                 ///< some take by force what others hold: only fences protect then
  weather bad;
  real faults_end;
};

}  // namespace holdfast::sim
