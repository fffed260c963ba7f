#include "redis/transport/connect_waiters.hpp"

#include <utility>

#include "redis/protocol/transport.hpp"

namespace holdfast::redis {

connect_waiters::entry connect_waiters::enter(waiter& w) noexcept {
  return state_.with([&](state& s) {
    if (open_) return entry::open;
    s.all.add(w);
    return std::exchange(s.connecting, true) ? entry::waiting : entry::first;
  });
}

bool connect_waiters::waiter::leave() noexcept {
  return where_.state_.with([&](state& s) { return s.all.remove(*this); });
}

void connect_waiters::give_up_connecting() noexcept {
  state_.with([](state& s) { s.connecting = false; });
}

void connect_waiters::wake_all(const std::optional<storage::failure>& why) noexcept {
  state_.with([&](state& s) {
    for (waiter* w = s.all.first(); w != nullptr; w = s.all.first()) {
      if (why) w->why = copy_of(*why);
      s.all.wake_first();
    }
  });
}

bool connect_waiters::stop_connecting() noexcept {
  return state_.with([](state& s) {
    if (s.all.empty()) s.connecting = false;
    return s.all.empty();
  });
}

}  // namespace holdfast::redis
