#pragma once
#include <cstdint>

#include "core/reliable_cell.hpp"

namespace holdfast::core {

/// A latch: a number in a cell that is counted down to zero. A missing cell has not been counted down yet.
struct countdown {
  std::uint64_t expected = 0;   ///< where it begins; all clients must agree on it
  storage::milliseconds ttl{};  ///< how long the store remembers it after the last count
};

/// yes: counted, once; unknown: like reliable_cell::put. The answer is also unknown, and nothing is changed, if other
/// clients expect another number (foreign) or fewer than n are left (bad_option).
[[nodiscard]] task<storage::answer<storage::done>> count_down(io&, reliable_cell&, countdown, std::uint64_t n);

/// yes: it is at zero; no: not within the limit, or the stop_token was triggered. A limit that has passed allows one
/// look.
[[nodiscard]] task<storage::answer<storage::done>> wait_for_zero(io&, reliable_cell&, countdown, limit);

}  // namespace holdfast::core
