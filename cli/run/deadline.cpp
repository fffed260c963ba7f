#include "run/deadline.hpp"

#include <algorithm>

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

constexpr boot_clock::duration grace_after_loss = 1s;  // somebody else may hold it by now

}  // namespace

deadline::deadline(const run_options& o, const lease& held, onlooker& sees)
    : options_(o), lease_(held), onlooker_(sees), before_(o) {}

deadline::distance deadline::look() const {
  if (!lease_.held()) return distance::over;
  return boot_clock::now() >= near_at() ? distance::near : distance::far;
}

deadline::instant deadline::near_at() const {
  const instant end = lease_.deadline();
  if (end == never) return never;
  return end < instant(before_.all()) ? instant() : end - before_.all();  // min(): it is lost by now
}

deadline::instant deadline::kill_at(distance d) const {
  const instant now = boot_clock::now();
  if (d == distance::near) return std::max(now, lease_.deadline()) - before_.margin;  // it may be lost by now
  return now + std::min<boot_clock::duration>(before_.grace, grace_after_loss);
}

deadline::instant deadline::kill_leftovers_at() const {
  const auto left = std::max<boot_clock::duration>(lease_.remaining() - before_.margin, 0ms);
  return boot_clock::now() + std::min<boot_clock::duration>(before_.grace, left);
}

deadline::reason deadline::why(distance d, boot_clock::duration at_most) const {
  const instant at = d == distance::near ? lease_.deadline() : boot_clock::now();
  if (options_.hold.max_hold_ends(held_since_, at)) return {true, "--max-hold is over"};
  std::string words = d == distance::near ? onlooker_.unrenewed() : onlooker_.loss(at_most);
  if (words.empty()) words = d == distance::near ? "no answer yet" : "its time is over";
  return {false, words};
}

}  // namespace holdfast::cli
