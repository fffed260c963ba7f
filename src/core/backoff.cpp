#include "core/backoff.hpp"

namespace holdfast::core {

runtime::task<runtime::wake> backoff::pause(runtime::io& i, std::uint64_t seen, limit l) {
  runtime::list_waiter me;
  const bool ended = waiting_.with([&](auto& all) {
    if (cuts_ == seen) all.add(me);
    return cuts_ != seen;
  });
  if (ended) co_return runtime::wake::signalled;
  const runtime::wake why = co_await wait(i, me.woken, l);
  waiting_.with([&](auto& all) { all.remove(me); });
  co_return why;
}

void backoff::end_pauses() noexcept {
  waiting_.with([this](auto& all) {
    ++cuts_;
    all.wake_all();
  });
}

}  // namespace holdfast::core
