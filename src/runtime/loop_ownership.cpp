#include "runtime/loop_ownership.hpp"

#include "runtime/inline_io.hpp"

namespace holdfast::runtime {

using namespace std::chrono_literals;

namespace {

/// How long the own thread leaves the loop to callers that come one after another.
constexpr span idle_time = 1ms;

}  // namespace

loop_ownership::acquired loop_ownership::acquire() noexcept {
  return state_.with([this](state& s) {
    if (s.is == owner::none) {
      s.is = owner::caller;
      ++s.number;
      return acquired::now;
    }
    // The own thread continues if it does the work of other callers.
    if (s.is == owner::own_thread && !wanted_ && s.delegated == 0) {
      wanted_ = true;
      return acquired::soon;
    }
    ++s.delegated;
    return acquired::delegated;
  });
}

void loop_ownership::wait() noexcept {
  granted_.wait(false);
  granted_ = false;
}

void loop_ownership::release(bool more) noexcept {
  const bool notify = state_.with([&](state& s) {
    s.is = owner::none;
    s.released = boot_clock::now();
    s.notified = more || s.delegated != 0;
    return s.notified || s.idle;
  });
  if (notify) notified_.set();
}

bool loop_ownership::notify() noexcept {
  const bool unowned = state_.with([](state& s) {
    s.notified = s.notified || s.is == owner::none;
    return s.is == owner::none;
  });
  if (unowned) notified_.set();
  return unowned;
}

void loop_ownership::yield() noexcept {
  std::uint64_t seen = state_.with([this](state& s) {
    wanted_ = false;
    s.is = owner::caller;
    return ++s.number;
  });
  granted_ = true;
  granted_.notify_one();
  instant until = later(boot_clock::now(), idle_time);
  for (bool over = false; !over;) {
    (void)wait_here(notified_, limit(until));
    over = state_.with([&](state& s) {
      const bool caller_runs = s.is == owner::caller;
      s.idle = caller_runs && s.number == seen;
      seen = s.number;
      until = s.idle ? never : later(caller_runs ? boot_clock::now() : s.released, idle_time);
      if (caller_runs || (!s.notified && boot_clock::now() < until)) return false;
      s.is = owner::own_thread;
      s.notified = false;
      return true;
    });
  }
}

}  // namespace holdfast::runtime
