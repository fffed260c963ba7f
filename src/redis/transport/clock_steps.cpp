#include "redis/transport/clock_steps.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::span;

/// More than a slewed clock drifts between two readings, and too little to matter to a lease.
constexpr span unnoticed = 50ms;

std::string ms(span time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

std::optional<std::string> clock_steps::add(const clock_reading& now) {
  std::optional<clock_reading> before;
  last_.with([&](std::optional<clock_reading>& last) {
    if (last && now.sent < last->sent) return;  // another thread has added a later reading
    before = last;
    last = now;
  });
  if (!before) return std::nullopt;
  const clock_advance by(*before, now);
  const span slack = unnoticed + by.most / 100;
  if (by.server >= by.least - slack && by.server <= by.most + slack) return std::nullopt;
  return "the server's clock was set, or another server has taken over: it went on by " + ms(by.server) +
         " while ours went on by " + ms(by.most) + "; leases end earlier or later than they should";
}

}  // namespace holdfast::redis
