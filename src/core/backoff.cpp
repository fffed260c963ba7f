#include "core/backoff.hpp"

namespace holdfast::core {

/// A caller that pauses. It leaves the list before it is destroyed.
class backoff::in_list {
 public:
  in_list(backoff& of, std::uint64_t seen) : of_(of) {
    of_.waiting_.with([&](auto& all) {
      if (of_.cuts_ != seen) return me.woken.set();
      all.add(me);
    });
  }
  in_list(const in_list&) = delete;
  in_list& operator=(const in_list&) = delete;
  ~in_list() {
    of_.waiting_.with([&](auto& all) { all.remove(me); });
  }
  runtime::list_waiter me;

 private:
  backoff& of_;
};

runtime::task<runtime::wake> backoff::pause(runtime::io& i, std::uint64_t seen, limit l) {
  in_list place(*this, seen);
  const runtime::wake why = co_await wait(i, place.me.woken, l);
  co_return why;
}

void backoff::end_pauses() noexcept {
  waiting_.with([this](auto& all) {
    ++cuts_;
    all.wake_all();
  });
}

}  // namespace holdfast::core
