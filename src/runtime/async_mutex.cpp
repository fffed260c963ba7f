#include "runtime/async_mutex.hpp"

namespace holdfast::runtime {

bool async_mutex::try_lock() noexcept {
  state free = state::free;
  return state_.compare_exchange_strong(free, state::locked);
}

task<bool> async_mutex::try_lock_until(io& i, limit l) {
  list_waiter mine;
  const bool free = waiters_.with([&](wait_list<>& all) {
    if (state_.exchange(state::waited_for) == state::free) return true;
    all.add(mine);
    return false;
  });
  if (free) co_return true;
  const wake why = co_await wait(i, mine.woken, l);
  if (why == wake::signalled) co_return true;
  const bool was_listed = waiters_.with([&](wait_list<>& all) { return all.remove(mine); });
  co_return !was_listed;  // an unlock() that removed us from the list has passed the mutex to us
}

void async_mutex::unlock() noexcept {
  state locked = state::locked;
  if (state_.compare_exchange_strong(locked, state::free)) return;  // no waiter
  waiters_.with([this](wait_list<>& all) {
    if (!all.wake_first()) state_ = state::free;
  });
}

}  // namespace holdfast::runtime
