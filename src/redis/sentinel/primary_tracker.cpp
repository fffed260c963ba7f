#include "redis/sentinel/primary_tracker.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

bool is_newer(const primary_tracker::announcement& one, const primary_tracker::announcement& other) {
  return std::pair(one.epoch, one.promoted) > std::pair(other.epoch, other.promoted);
}

}  // namespace

bool primary_tracker::update(announcement said, runtime::instant now) {
  const bool is_the_same = said.at == known_.at;
  const bool counts = is_newer(said, known_) || now >= runtime::later(confirmed_, lasts_);
  const bool confirmed = is_the_same && !is_newer(known_, said);
  if (counts || confirmed) confirmed_ = now;
  if (!counts) return false;
  const bool moved = !is_the_same && !known_.at.host.empty();
  known_ = std::move(said);
  return moved;
}

bool primary_tracker::doubt(const net::endpoint& at) noexcept {
  if (!known_.promoted || at != known_.at) return false;
  --known_.epoch;  // outdated sentinels still do not count
  known_.promoted = false;
  return true;
}

}  // namespace holdfast::redis
