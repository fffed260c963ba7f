#include "redis/transport/lobby.hpp"

#include <utility>

#include "redis/protocol/link.hpp"

namespace holdfast::redis {

lobby::welcome lobby::enter(visitor& v) noexcept {
  return room_.with([&](room& in) {
    if (open_) return welcome::open;
    v.next_ = std::exchange(in.first, &v);
    v.to_me_ = &in.first;
    if (v.next_ != nullptr) v.next_->to_me_ = &v.next_;
    return std::exchange(in.served, true) ? welcome::served : welcome::unattended;
  });
}

bool lobby::visitor::leave() noexcept {
  return where_.room_.with([&](room&) {
    if (to_me_ == nullptr) return false;
    *to_me_ = next_;
    if (next_ != nullptr) next_->to_me_ = to_me_;
    to_me_ = nullptr;
    return true;
  });
}

void lobby::give_up_serving() noexcept {
  room_.with([](room& in) { in.served = false; });
}

void lobby::call_all(const std::optional<storage::failure>& why) noexcept {
  room_.with([&](room& in) {
    for (visitor* v = std::exchange(in.first, nullptr); v != nullptr;) {
      visitor* const next = v->next_;  // it may be gone once it is called
      v->to_me_ = nullptr;
      if (why) v->why = copy_of(*why);
      v->called.set();
      v = next;
    }
  });
}

bool lobby::retire() noexcept {
  return room_.with([](room& in) {
    if (in.first != nullptr) return false;
    in.served = false;
    return true;
  });
}

}  // namespace holdfast::redis
