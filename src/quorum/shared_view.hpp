#pragma once
#include <cstddef>
#include <vector>

#include "holdfast/state.hpp"

namespace holdfast::quorum {

/// Merges the views of several servers of one name. A client that a majority names is the holder, for as long as a
/// majority keeps its vote; votes of a minority are no lock. Waiters are known to each server that they have asked.
[[nodiscard]] state shared_view(const std::vector<const state*>& seen, std::size_t majority);

}  // namespace holdfast::quorum
