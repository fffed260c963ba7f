#include "sim/checker.hpp"

#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;

checker::watched::watched(std::shared_ptr<core::tenancy> lease, client_io& where)
    : lease_(std::move(lease)), where_(where), deadline_(lease_->of()->deadline()) {
  loss_.emplace(lease_->lost_token(), hear{heard_});
}

bool checker::watched::believes() const {
  return lease_->state() == core::tenancy::phase::held && where_.now() < lease_->of()->deadline();
}

checker::watched& checker::watch(std::shared_ptr<core::tenancy> lease, client_io& where) {
  watched& w = leases_.emplace_back(std::move(lease), where);
  std::uint64_t& highest = highest_[w.lease_->of()->name];
  // Unless its process was paused between the instant it got it and the one it saw it.
  const bool ran = w.lease_->began() >= where.clock().local(where.running_since());
  if (ran && !w.believes()) world_.violate("I4: a lease was over when it was given");
  if (exclusive_ && w.believes()) {
    if (w.lease_->fence() <= highest) {
      world_.violate("I3: fence " + std::to_string(w.lease_->fence()) + " after " + std::to_string(highest));
    }
    highest = w.lease_->fence();
  }
  return w;
}

void checker::forget(watched& gone) {
  leases_.remove_if([&](const watched& w) { return &w == &gone; });
}

void checker::forget_all(client_io& where) {
  leases_.remove_if([&](const watched& w) { return &w.where_ == &where; });
}

void checker::look() {
  for (auto w = leases_.begin(); w != leases_.end(); ++w) {
    const core::hold& held = *w->lease_->of();
    if (w->believes()) {
      if (w->over_) world_.violate("I4: a lease of " + held.name + " came back to life");
      w->deadline_ = held.deadline();
      if (exclusive_) {
        for (auto other = leases_.begin(); other != w; ++other) {
          if (other->lease_->of()->name == held.name && other->believes()) world_.violate("I1: two hold " + held.name);
        }
      }
    } else {
      w->over_ = true;
      const bool ran = !w->where_.paused() && world_.now() > w->where_.running_since() + 10ms;
      const bool late = w->where_.now() > w->deadline_ + 10ms;
      if (ran && late && !w->heard_ && w->lease_->state() != core::tenancy::phase::released) {
        world_.violate("I4: the holder of " + held.name + " has not heard of its loss");
      }
    }
  }
}

}  // namespace holdfast::sim
