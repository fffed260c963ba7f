#include "sim/redis_pair.hpp"

#include <algorithm>

namespace holdfast::sim {

using namespace std::chrono_literals;

redis_pair::redis_pair(world& w, drifting_clock first, drifting_clock second, redis_server::choices how) : world_(w) {
  servers_[0] = std::make_unique<redis_server>(w, first, how);
  servers_[1] = std::make_unique<redis_server>(w, second, how);
  for (std::size_t n = 0; n < 2; ++n) {
    servers_[n]->on_script = [this, n](const redis_server::script_run& r) {
      on_script(*servers_[n], r);
      pass_on(n);
    };
  }
  servers_[1]->only_read(true);
  servers_[0]->acknowledge(0);
}

void redis_pair::tell(known_grants& grants) {
  for (std::size_t n = 0; n < 2; ++n) {
    servers_[n]->audit().tell(grants, [this, n] { return n == primary_; });
  }
}

/// Copies all data: there is little, and the last copy that arrives counts.
void redis_pair::pass_on(std::size_t from) {
  if (from != primary_ || !in_step_) return;
  const real soonest = std::max(world_.now(), lags_until_) + world_.between(30us, 2ms);
  last_arrival_ = std::max(last_arrival_, soonest);
  world_.at(last_arrival_,
            [this, change = changes_, written = servers_[from]->written(),
             what = std::make_shared<redis_keys>(servers_[from]->keys())] { arrived(change, written, *what); });
}

void redis_pair::arrived(std::uint64_t change, std::uint64_t written, const redis_keys& what) {
  const bool was_sent = !dead_ || world_.now() <= died_ + 2ms;
  if (change != changes_ || !was_sent) return;
  replica().copy(what);
  world_.in(world_.between(30us, 2ms), [this, change, written] {
    if (change == changes_ && !dead_) last_primary().acknowledge(written);
  });
}

void redis_pair::lag_until(real when) {
  world_.note("lag", static_cast<std::uint64_t>(when.count()));
  lags_until_ = std::max(lags_until_, when);
}

void redis_pair::die(real outage) {
  world_.note("primary dies", static_cast<std::uint64_t>(outage.count()));
  dead_ = true;
  died_ = world_.now();
  last_primary().restart(true);
  world_.in(outage, [this] {
    promote();
    world_.in(world_.between(0ms, 300ms), [this] { follow(); });
  });
}

void redis_pair::hand_over(real overlap) {
  promote();
  world_.in(overlap, [this] {
    replica().only_read(true);
    if (world_.chance(0.5)) replica().restart(true);  // its connections are ended
    world_.in(world_.between(0ms, 100ms), [this] { follow(); });
  });
}

void redis_pair::promote() {
  world_.note("promoted", ++changes_);
  dead_ = in_step_ = false;
  primary_ = 1 - primary_;
  last_primary().only_read(false);
  last_primary().begin_history(changes_);
  last_primary().has_no_replica();
  on_change();
}

/// The former primary copies the data of the new one, and receives its writes from then on.
void redis_pair::follow() {
  world_.note("follows");
  replica().only_read(true);
  replica().copy(last_primary().keys());
  replica().share_history(last_primary());
  last_primary().acknowledge(last_primary().written());
  in_step_ = true;
}

}  // namespace holdfast::sim
