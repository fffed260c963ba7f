#include "redis/doctor/clock_watch.hpp"

#include <algorithm>
#include <string>

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::span;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::string in_words(span time) {
  const auto ms = duration_cast<milliseconds>(time);
  return ms < 10s ? std::to_string(ms.count()) + " ms"
                  : std::to_string(duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

void clock_watch::judge(storage::findings& found) const {
  if (all_.empty()) return;
  judge_offset(found);
  if (all_.size() > 1) judge_rate(found);
}

void clock_watch::judge_offset(storage::findings& found) const {
  const auto round_trip = [](const sample& s) { return s.received - s.sent; };
  const sample& best = *std::ranges::min_element(all_, {}, round_trip);
  const span half = round_trip(best) / 2;
  const span apart = span(best.server - best.wall) - half;
  const span at_least = std::max<span>(std::chrono::abs(apart) - half, 0ns);
  const std::string what = "The server's clock is " + in_words(std::chrono::abs(apart)) + " (give or take " +
                           in_words(half + 1ms) + ") " + (apart < 0ns ? "behind" : "ahead of") + " ours.";
  if (at_least < 1s) return found.fine("redis.clock", "The server's clock and ours agree to a second.");
  const std::string why =
      "Locks do not mind, but a fence is never below the server's clock: a server with another clock that takes over, "
      "without the last fences, may begin below those that were given.";
  const std::string cure = "Let NTP set the clocks of all machines: timedatectl set-ntp true; chronyc tracking";
  if (at_least < 1min) return found.note("redis.clock", what, why, cure);
  found.warning("redis.clock", what, why, cure);
}

// The server read its clock at some moment between `sent` and `received`: so between two samples at least the first of
// these went by, and at most the second.
void clock_watch::judge_rate(storage::findings& found) const {
  for (std::size_t to = 1; to < all_.size(); ++to) {
    for (const std::size_t from : {to - 1, std::size_t{0}}) {
      const span least = std::max<span>(all_[to].sent - all_[from].received, 0ns);
      const span most = all_[to].received - all_[from].sent;
      const span went = all_[to].server - all_[from].server;
      // As the margin has it, and a little for times that are rounded.
      if (went >= least - least / 100 - 1ms && went <= most + most / 100 + 1ms) continue;
      return found.danger("redis.clock_rate",
                          "The server's clock went on by " + std::to_string(duration_cast<milliseconds>(went).count()) +
                              " ms while ours went on by " + in_words(least) + " to " + in_words(most) + ".",
                          "It was set, or runs at another rate: a lock may end for the server before its holder "
                          "expects it, and two hold at once.",
                          "Let NTP slew the server's clock and not step it: chronyd without makestep after its start; "
                          "look at the clock of its virtual machine");
    }
  }
  found.fine("redis.clock_rate",
             "The server's clock ran as fast as ours for " + in_words(all_.back().received - all_.front().sent) + ".");
}

}  // namespace holdfast::redis
