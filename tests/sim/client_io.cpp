#include "sim/client_io.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;

instant drifting_clock::local(real t) const noexcept {
  return instant(start_ + real(static_cast<real::rep>(static_cast<double>(t.count()) * rate_)));
}

real drifting_clock::true_time(instant t) const noexcept {
  if (t == runtime::never) return real::max();
  const auto since = static_cast<double>((t.time_since_epoch() - start_).count());
  return real(static_cast<real::rep>(std::ceil(since / rate_)) + 1);
}

void client_io::post(runtime::resumption& r) noexcept {
  post([frame = r.frame] { frame.resume(); });
}

void client_io::post(std::function<void()> job) {
  ready_.push_back(std::move(job));
  pump_at(world_.now() + world_.between(0us, 20us));
}

void client_io::arm(runtime::parked& p, instant at) noexcept {
  timers_.arm(p, at);
  pump_at(clock_.true_time(timers_.first()));
}

void client_io::pause(real until) {
  world_.note("pause", static_cast<std::uint64_t>((until - world_.now()).count()));
  paused_until_ = std::max(paused_until_, until);
}

void client_io::pump_at(real when) {
  if (when >= next_pump_) return;
  next_pump_ = std::max(when, world_.now());
  world_.at(next_pump_, [this, mine = next_pump_] {
    if (mine != next_pump_) return;  // an earlier one took its place
    next_pump_ = real::max();
    pump();
  });
}

void client_io::pump() {
  if (paused()) {
    pump_at(paused_until_);
    return;
  }
  if (!ready_.empty()) {
    const std::function<void()> job = std::move(ready_.front());
    ready_.pop_front();
    job();
  } else if (const auto frame = timers_.pop_due(now())) {
    frame.resume();
  }
  if (!ready_.empty()) pump_at(world_.now() + world_.between(0us, 5us));
  pump_at(clock_.true_time(timers_.first()));
}

}  // namespace holdfast::sim
