#include "runtime/turn.hpp"

namespace holdfast::runtime {

bool turn::try_enter() noexcept {
  state free = state::free;
  return state_.compare_exchange_strong(free, state::taken);
}

task<bool> turn::enter(io& i, limit l) {
  list_waiter mine;
  const bool free = waiters_.with([&](wait_list<>& all) {
    if (state_.exchange(state::waited_for) == state::free) return true;
    all.add(mine);
    return false;
  });
  if (free) co_return true;
  const wake why = co_await wait(i, mine.woken, l);
  if (why == wake::signalled) co_return true;
  const bool gave_up = waiters_.with([&](wait_list<>& all) { return all.remove(mine); });
  co_return !gave_up;  // if we had left the list already, the mutex was passed to us at that moment
}

void turn::leave() noexcept {
  state taken = state::taken;
  if (state_.compare_exchange_strong(taken, state::free)) return;  // no waiter
  waiters_.with([this](wait_list<>& all) {
    if (!all.wake_first()) state_ = state::free;
  });
}

}  // namespace holdfast::runtime
