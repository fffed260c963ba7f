#pragma once
#include <cstdint>

#include "core/asked_cell.hpp"

namespace holdfast::core {

/// A latch: a number in a cell that goes down to zero. A cell that is not there is at the beginning.
struct countdown {
  std::uint64_t expected = 0;   ///< all who use it agree on it
  storage::milliseconds ttl{};  ///< the store remembers it for so long after the last who counted
};

/// yes: counted, once; unknown: as asked_cell::put. Also unknown, and nothing is changed: foreign, others expect
/// another number; bad_option, fewer than n are left.
[[nodiscard]] task<storage::answer<storage::done>> count_down(io&, asked_cell&, countdown, std::uint64_t n);

/// yes: it is at zero; no: not within the limit, or we were asked to stop. A limit that is over is one look.
[[nodiscard]] task<storage::answer<storage::done>> wait_for_zero(io&, asked_cell&, countdown, limit);

}  // namespace holdfast::core
