#include "runtime/turn.hpp"

#include <utility>

namespace holdfast::runtime {

bool turn::line::remove(const waiter* gone) noexcept {
  for (waiter** at = &first; *at != nullptr; at = &(*at)->next) {
    if (*at == gone) {
      *at = gone->next;
      return true;
    }
  }
  return false;
}

bool turn::try_enter() noexcept {
  state free = state::free;
  return state_.compare_exchange_strong(free, state::taken);
}

task<bool> turn::enter(io& i, limit l) {
  waiter mine;
  const bool free = line_.with([&](line& at) {
    if (state_.exchange(state::waited_for) == state::free) return true;
    waiter** end = &at.first;
    while (*end != nullptr) end = &(*end)->next;
    *end = &mine;
    return false;
  });
  if (free) co_return true;
  const wake why = co_await wait(i, mine.called, l);
  if (why == wake::signalled) co_return true;
  const bool gave_up = line_.with([&](line& at) { return at.remove(&mine); });
  co_return !gave_up;  // if we had left the queue already, the mutex was passed to us at that moment
}

void turn::leave() noexcept {
  state taken = state::taken;
  if (state_.compare_exchange_strong(taken, state::free)) return;  // no waiter
  line_.with([this](line& at) {
    if (at.first == nullptr) {
      state_ = state::free;
    } else {
      waiter* next = std::exchange(at.first, at.first->next);
      next->called.set();
    }
  });
}

}  // namespace holdfast::runtime
