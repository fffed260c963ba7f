#include "quorum/vote_round.hpp"

#include "seeded_bugs.hpp"

namespace holdfast::quorum {

std::size_t majority_of(std::size_t voters) noexcept {
  return seeded(bug::half_is_a_majority) ? (voters + 1) / 2 : voters / 2 + 1;
}

verdict of_election(const tally& t) noexcept {
  const std::size_t enough = t.majority() + t.min_margin;
  const std::size_t against = t.majority();
  if (t.yes >= enough) return verdict::yes;
  if (t.yes + t.open() >= enough) return verdict::open;
  if (t.yes + t.no >= enough || t.no >= against) return verdict::no;
  const bool can_be_no = t.yes + t.no + t.open() >= enough || t.no + t.open() >= against;
  return can_be_no ? verdict::open : verdict::unknown;
}

verdict of_step(const tally& t) noexcept {
  const std::size_t enough = t.majority();
  const std::size_t too_many = t.voters - enough + 1;
  if (t.yes >= enough) return verdict::yes;
  if (t.no >= too_many) return verdict::no;
  const bool can_be_yes = t.yes + t.open() >= enough;
  const bool can_be_no = t.no + t.open() >= too_many;
  return can_be_yes || can_be_no ? verdict::open : verdict::unknown;
}

verdict all_of_them(const tally& t) noexcept { return t.open() == 0 ? verdict::unknown : verdict::open; }

}  // namespace holdfast::quorum
