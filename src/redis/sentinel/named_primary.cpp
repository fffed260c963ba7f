#include "redis/sentinel/named_primary.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

bool is_newer(const named_primary::word& one, const named_primary::word& other) {
  return std::pair(one.epoch, one.promoted) > std::pair(other.epoch, other.promoted);
}

}  // namespace

bool named_primary::hear(word said, runtime::instant now) {
  const bool is_the_same = said.at == known_.at;
  const bool counts = is_newer(said, known_) || now >= runtime::later(heard_, lasts_);
  const bool confirmed = is_the_same && !is_newer(known_, said);
  if (counts || confirmed) heard_ = now;
  if (!counts) return false;
  const bool moved = !is_the_same && !known_.at.host.empty();
  known_ = std::move(said);
  return moved;
}

bool named_primary::doubt(const place& at) noexcept {
  if (!known_.promoted || at != known_.at) return false;
  --known_.epoch;  // those that are behind are so still
  known_.promoted = false;
  return true;
}

}  // namespace holdfast::redis
