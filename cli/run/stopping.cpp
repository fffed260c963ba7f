#include "run/stopping.hpp"

#include <algorithm>

namespace holdfast::cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

/// What there is of the lock at most when it was just renewed.
milliseconds shorter(const run_options& o) noexcept {
  return o.hold.max_hold > 0ms ? std::min(o.hold.ttl, o.hold.max_hold) : o.hold.ttl;
}

}  // namespace

bool is_renewed(const run_options& o) noexcept { return o.hold.max_hold == 0ms || o.hold.max_hold > o.hold.ttl; }

stopping::stopping(const run_options& o)
    : grace(o.grace.value_or(std::min<milliseconds>(5s, shorter(o) / 4))),
      margin(std::min<std::chrono::microseconds>(50ms, std::chrono::microseconds(shorter(o)) / 20)) {}

std::string contradiction(const run_options& o) {
  if (const std::string wrong = o.hold.contradiction(); !wrong.empty()) return wrong;
  if (o.hold.max_hold > 0ms && o.min_hold >= o.hold.max_hold) return "--min-hold must be shorter than --max-hold";
  if (o.hold.max_hold == 0ms || stopping(o).all() < o.hold.max_hold) return "";
  return "--max-hold must be longer than --grace, in which the command stops, and a twentieth of itself (50ms at most)";
}

// A lease is renewed when a third of its ttl is over. A command that is stopped with more than half of it to go would
// be stopped before that, or before the answer is there.
std::string too_much_grace(const run_options& o) {
  if (!is_renewed(o) || stopping(o).grace <= o.hold.ttl / 2) return "";
  return "--grace must be at most half of --ttl, which is " + std::to_string((o.hold.ttl / 2).count()) +
         "ms here: else the command would be stopped before the lock can be renewed";
}

}  // namespace holdfast::cli
