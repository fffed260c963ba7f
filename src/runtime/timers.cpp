#include "runtime/timers.hpp"

#include <tuple>
#include <utility>

#include "runtime/signal.hpp"

namespace holdfast::runtime {

void timers::arm(parked& waiter, instant at) noexcept {
  waiter.due_ = at;
  waiter.number_ = ++last_number_;
  waiter.armed_ = true;
  first_ = merge(first_, &waiter);
}

void timers::disarm(parked& waiter) noexcept {
  waiter.armed_ = false;
  parked* const below = merge_siblings(std::exchange(waiter.child_, nullptr));
  if (&waiter == first_) {
    first_ = below;
    return;
  }
  parked& before = *waiter.previous_;
  (before.child_ == &waiter ? before.child_ : before.next_) = waiter.next_;
  if (waiter.next_ != nullptr) waiter.next_->previous_ = &before;
  waiter.next_ = waiter.previous_ = nullptr;
  first_ = merge(first_, below);
}

std::coroutine_handle<> timers::pop_due(instant now) noexcept {
  while (first() <= now && first_ != nullptr) {
    parked& waiter = *first_;
    disarm(waiter);
    if (waiter.at_->unpark(waiter)) return waiter.resumption_.frame;  // otherwise it was signalled and is posted
  }
  return {};
}

/// Merges two heaps: the later one becomes the first child of the earlier.
parked* timers::merge(parked* a, parked* b) noexcept {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  if (std::tie(b->due_, b->number_) < std::tie(a->due_, a->number_)) std::swap(a, b);
  b->next_ = a->child_;
  if (b->next_ != nullptr) b->next_->previous_ = b;
  b->previous_ = a;
  a->child_ = b;
  return a;
}

/// Merges in pairs first and then the pairs, which gives the amortised bounds of a pairing heap.
parked* timers::merge_siblings(parked* first) noexcept {
  parked* pairs = nullptr;
  while (first != nullptr) {
    parked* const a = first;
    parked* const b = a->next_;
    first = b == nullptr ? nullptr : b->next_;
    a->next_ = a->previous_ = nullptr;
    if (b != nullptr) b->next_ = b->previous_ = nullptr;
    parked* const pair = merge(a, b);
    pair->next_ = pairs;
    pairs = pair;
  }
  parked* all = nullptr;
  while (pairs != nullptr) {
    parked* const pair = pairs;
    pairs = std::exchange(pair->next_, nullptr);
    all = merge(all, pair);
  }
  return all;
}

}  // namespace holdfast::runtime
