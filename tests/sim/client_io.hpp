#pragma once
#include <coroutine>
#include <deque>
#include <functional>

#include "runtime/io.hpp"
#include "runtime/timers.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

using runtime::instant;

/// The wall-clock time at which a world begins, where a store needs one.
inline constexpr std::chrono::seconds first_day{1'790'000'000};

/// The clock of a machine, which runs at its own rate.
class drifting_clock {
 public:
  drifting_clock(world& w, double rate, std::chrono::nanoseconds start) : world_(w), rate_(rate), start_(start) {}
  [[nodiscard]] instant now() const noexcept { return local(world_.now()); }
  [[nodiscard]] instant local(real) const noexcept;
  [[nodiscard]] real true_time(instant) const noexcept;  ///< not before the clock shows it

 private:
  world& world_;
  const double rate_;
  const std::chrono::nanoseconds start_;
};

/// One simulated process: it runs what is ready, one piece an event, and nothing at all while it is paused.
class client_io final : public runtime::io {
 public:
  client_io(world& w, drifting_clock clock) : io(false), world_(w), clock_(clock) {}

  [[nodiscard]] instant now() const noexcept override { return clock_.now(); }
  [[nodiscard]] std::uint64_t random() override { return world_.random(); }
  void post(runtime::resumption&) noexcept override;
  /// Any other piece of work of this process, such as user code or an incoming message.
  void post(std::function<void()> job);

  void pause(real until);
  [[nodiscard]] bool paused() const noexcept { return world_.now() < paused_until_; }
  /// The time since which it has run without a pause.
  [[nodiscard]] real running_since() const noexcept { return paused_until_; }
  [[nodiscard]] const drifting_clock& clock() const noexcept { return clock_; }

 private:
  void arm(runtime::parked&, instant) noexcept override;
  void disarm(runtime::parked& p) noexcept override { timers_.disarm(p); }
  void pump();
  void pump_at(real);

  world& world_;
  const drifting_clock clock_;
  runtime::timers timers_;
  std::deque<std::function<void()>> ready_;
  real next_pump_ = real::max();
  real paused_until_{0};
};

}  // namespace holdfast::sim
