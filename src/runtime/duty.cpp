#include "runtime/duty.hpp"

#include "runtime/inline_io.hpp"

namespace holdfast::runtime {

using namespace std::chrono_literals;

namespace {

/// A caller that comes again within so long finds nobody at work.
constexpr span longest_rest = 1ms;

}  // namespace

duty::given duty::stand_in() noexcept {
  return state_.with([this](state& s) {
    if (s.is == of::nobody) {
      s.is = of::stand_in;
      ++s.number;
      return given::now;
    }
    // The own thread that has work of others goes on with it.
    if (s.is == of::own_thread && !wanted_ && s.relying == 0) {
      wanted_ = true;
      return given::soon;
    }
    ++s.relying;
    return given::instead;
  });
}

void duty::wait() noexcept {
  granted_.wait(false);
  granted_ = false;
}

void duty::stand_down(bool more) noexcept {
  const bool to_be_called = state_.with([&](state& s) {
    s.is = of::nobody;
    s.last = boot_clock::now();
    s.called = more || s.relying != 0;
    return s.called || s.for_long;
  });
  if (to_be_called) call_.set();
}

bool duty::call() noexcept {
  const bool nobody = state_.with([](state& s) {
    s.called = s.called || s.is == of::nobody;
    return s.is == of::nobody;
  });
  if (nobody) call_.set();
  return nobody;
}

void duty::rest() noexcept {
  std::uint64_t seen = state_.with([this](state& s) {
    wanted_ = false;
    s.is = of::stand_in;
    return ++s.number;
  });
  granted_ = true;
  granted_.notify_one();
  instant until = later(boot_clock::now(), longest_rest);
  for (bool over = false; !over;) {
    (void)wait_here(call_, limit(until));
    over = state_.with([&](state& s) {
      const bool stands_in = s.is == of::stand_in;
      s.for_long = stands_in && s.number == seen;
      seen = s.number;
      until = s.for_long ? never : later(stands_in ? boot_clock::now() : s.last, longest_rest);
      if (stands_in || (!s.called && boot_clock::now() < until)) return false;
      s.is = of::own_thread;
      s.called = false;
      return true;
    });
  }
}

}  // namespace holdfast::runtime
