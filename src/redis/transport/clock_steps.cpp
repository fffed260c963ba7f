#include "redis/transport/clock_steps.hpp"

#include <cstdlib>

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::span;

/// More than a clock that is slewed gains between two looks; less than would matter to a lease.
constexpr span unnoticed = 50ms;

std::string ms(span time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

std::optional<std::string> clock_steps::add(const sample& now) {
  std::optional<sample> before;
  last_.with([&](std::optional<sample>& last) {
    if (last && now.sent < last->sent) return;  // another has brought a later one
    before = last;
    last = now;
  });
  if (!before) return std::nullopt;
  // The server read its clock at some moment between `sent` and `received`.
  const span least = now.sent - before->received, most = now.received - before->sent;
  const span went = now.server - before->server;
  const span slack = unnoticed + most / 100;
  if (went >= least - slack && went <= most + slack) return std::nullopt;
  return "the server's clock was set, or another server has taken over: it went on by " + ms(went) +
         " while ours went on by " + ms(most) + "; leases end earlier or later than they should";
}

}  // namespace holdfast::redis
