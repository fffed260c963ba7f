#include "sim/plan.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

plan::plan(world& w)
    : clients(2 + w.below(3)),
      users(1 + w.below(3)),
      names(1 + w.below(2)),
      operations(3 + w.below(8)),
      burst(w.below(3) == 0 ? 1 : 2 + static_cast<unsigned>(w.below(15))),
      drift(w.chance(0.7) ? 0.0045 : 0),
      pauses(w.chance(0.5)),
      crashes(w.chance(0.4)),
      blocking(w.chance(0.5)),
      restarts(w.chance(0.15)),
      quiet(w.chance(0.05)),
      readers(w.chance(0.5) ? 0.2 + 0.1 * static_cast<double>(w.below(7)) : 0),
      permits(w.chance(0.35) ? 1 + static_cast<std::uint32_t>(w.below(5)) : 0),
      more_permits(permits + (w.chance(0.4) ? 1 + static_cast<std::uint32_t>(w.below(3)) : 0)),
      several(w.chance(0.4)),
      unfair(w.chance(0.25)),
      delays(w.chance(0.3)),
      breaks(w.chance(0.2)),
      faults_end(w.between(500ms, 3s)) {
  if (w.chance(0.5)) bad.lose = 0.01 + 0.01 * static_cast<double>(w.below(20));
  if (w.chance(0.4)) bad.duplicate = 0.1;
  if (w.chance(0.4)) bad.late = 0.1;
  if (w.chance(0.3)) bad.refuse = 0.3;
  if (quiet) {
    pauses = crashes = restarts = breaks = false;
    more_permits = permits;
    bad = weather();
  }
}

plan plan::of(store_kind kind, world& w) {
  plan p(w);
  if (kind == store_kind::redlock) {
    p.readers = 0;
    p.permits = p.more_permits = 0;
  }
  if (kind == store_kind::replicas) p.breaks = false;
  return p;
}

}  // namespace holdfast::sim
