#pragma once
#include <coroutine>
#include <stdexcept>

#include "runtime/io.hpp"
#include "runtime/timers.hpp"

namespace holdfast::test {

using runtime::instant;
using runtime::span;

/// An io on one thread with a clock that only the test moves. Tasks run in run() and advance() only.
class manual_io final : public runtime::io {
 public:
  manual_io() noexcept : io(false) {}

  [[nodiscard]] instant now() const noexcept override { return now_; }
  [[nodiscard]] std::uint64_t random() override {  // splitmix64
    std::uint64_t x = seed_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  void post(runtime::resumption& r) noexcept override {
    ++posts_;
    ready_.push(r);
  }
  [[nodiscard]] std::uint64_t posts() const noexcept { return posts_; }  ///< so far

  /// Runs everything that is ready now.
  void run() {
    for (int steps = 0; step(); ++steps) {
      if (steps == 100'000) throw std::runtime_error("this instant does not end");
    }
  }

  /// Moves the clock to this time, stopping at every timer on the way.
  void advance_to(instant then) {
    run();
    while (timers_.first() <= then) {
      now_ = std::max(now_, timers_.first());
      run();
    }
    now_ = then;
  }
  void advance(span by) { advance_to(now_ + by); }

 private:
  void arm(runtime::parked& p, instant at) noexcept override { timers_.arm(p, at); }
  void disarm(runtime::parked& p) noexcept override { timers_.disarm(p); }

  bool step() {
    std::coroutine_handle<> frame = ready_.pop();
    if (!frame) frame = timers_.pop_due(now_);
    if (frame) frame.resume();
    return static_cast<bool>(frame);
  }

  instant now_{std::chrono::hours(1)};
  std::uint64_t seed_ = 1;
  std::uint64_t posts_ = 0;
  runtime::resumptions ready_;
  runtime::timers timers_;
};

}  // namespace holdfast::test
