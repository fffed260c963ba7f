#include "runtime/timers.hpp"

#include "runtime/signal.hpp"

namespace holdfast::runtime {

void timers::arm(parked& waiter, instant at) {
  waiter.timer_ = waits_.emplace(at, &waiter);
  waiter.armed_ = true;
}

void timers::disarm(parked& waiter) noexcept {
  waits_.erase(waiter.timer_);
  waiter.armed_ = false;
}

std::coroutine_handle<> timers::pop_due(instant now) noexcept {
  while (first() <= now) {
    parked& waiter = *waits_.begin()->second;
    disarm(waiter);
    if (waiter.at_->unpark(waiter)) return waiter.resumption_.frame;  // else it was signalled meanwhile, and is posted
  }
  return {};
}

}  // namespace holdfast::runtime
