#include "sim/checker.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;

checker::watched::watched(std::shared_ptr<core::lease_state> lease, const std::string& name, client_io& where)
    : lease_(std::move(lease)),
      name_(name),
      fence_(name == lease_->of()->name ? lease_->fence() : lease_->of()->claim->fence_of(name)),
      where_(where),
      part_(lease_->of()->on.wants),
      deadline_(lease_->of()->deadline()) {
  loss_.emplace(lease_->lost_token(), hear{heard_});
}

bool checker::watched::believes() const {
  return lease_->state() == core::lease_state::phase::held && where_.now() < lease_->of()->deadline();
}

checker::watched& checker::watch(std::shared_ptr<core::lease_state> lease, const std::string& name, client_io& where) {
  watched& w = leases_.emplace_back(std::move(lease), name, where);
  // This does not apply if the process was paused between the grant and the event that reported it.
  const bool ran = w.lease_->began() >= where.clock().local(where.running_since());
  if (ran && !w.believes()) world_.violate("I4: a lease was over when it was given");
  if (exclusive_ && w.believes()) {
    check_fence(w);
    if (world_.now() < closed_until_[name]) world_.violate("I15: " + name + " was given away during its lock delay");
  }
  return w;
}

/// I15: after a loss the lock stays closed for the lock delay, counted from the holder's deadline. Clocks may differ a
/// little.
void checker::keep_closed(const watched& w) {
  if (!w.part_.exclusive() || w.lease_->state() == core::lease_state::phase::released) return;
  const std::chrono::nanoseconds left = w.deadline_ - w.where_.now();  // negative if it expired before this check
  const real until = world_.now() + left + real(w.lease_->of()->on.delay) / 100 * 95 - real(std::max(left, 0ns)) / 100;
  real& closed = closed_until_[w.name_];
  if (w.lease_->of()->on.delay > 0ms) closed = std::max(closed, until);
}

/// I3: a fence is higher than all before it, but a reader that joins other readers shares their fence.
void checker::check_fence(const watched& w) {
  if (!w.part_.of_a_lock()) return;  // the fences of permits are not ordered
  std::uint64_t& highest = highest_[w.name_];
  const std::uint64_t fence = w.fence_;
  if (fence < highest || (fence == highest && w.part_.exclusive())) {
    world_.violate("I3: fence " + std::to_string(fence) + " after " + std::to_string(highest));
  }
  highest = fence;
}

void checker::forget(watched& gone) {
  leases_.remove_if([&](const watched& w) { return &w == &gone; });
}

void checker::forget_all(client_io& where) {
  for (const watched& w : leases_) {
    if (&w.where_ == &where && !w.over_) keep_closed(w);
  }
  leases_.remove_if([&](const watched& w) { return &w.where_ == &where; });
}

/// I1: the shares of a name that are held at one time add up to at most the whole, so a writer is alone. I3: readers
/// that hold a lock together have one fence.
void checker::check_company(std::list<watched>::const_iterator w) {
  const std::string& name = w->name_;
  std::uint64_t taken = w->part_.part;
  for (auto other = leases_.cbegin(); other != w; ++other) {
    if (other->name_ != name || !other->believes()) continue;
    taken += other->part_.part;
    const bool readers = w->part_ == storage::share::reader() && other->part_ == storage::share::reader();
    if (readers && w->fence_ != other->fence_) {
      world_.violate("I3: readers of " + name + " who are in together have two fences");
    }
  }
  if (taken <= (w->part_.of_a_lock() ? storage::share::lock : permits_)) return;
  world_.violate(w->part_.of_a_lock() ? "I1: a writer of " + name + " is not alone"
                                      : "I1: more permits of " + name + " are taken than there are");
}

void checker::look() {
  for (auto w = leases_.begin(); w != leases_.end(); ++w) {
    const core::holding& held = *w->lease_->of();
    if (w->believes()) {
      if (w->over_) world_.violate("I4: a lease of " + held.name + " came back to life");
      w->deadline_ = held.deadline();
      if (exclusive_) check_company(w);
    } else {
      if (!std::exchange(w->over_, true)) keep_closed(*w);
      const bool ran = !w->where_.paused() && world_.now() > w->where_.running_since() + 10ms;
      const bool late = w->where_.now() > w->deadline_ + 10ms;
      if (ran && late && !w->heard_ && w->lease_->state() != core::lease_state::phase::released) {
        world_.violate("I4: the holder of " + held.name + " was not notified of the loss");
      }
    }
  }
}

}  // namespace holdfast::sim
