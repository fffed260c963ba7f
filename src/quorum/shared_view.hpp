#pragma once
#include <cstddef>
#include <vector>

#include "holdfast/state.hpp"

namespace holdfast::quorum {

/// What several servers, of which each has seen a part, say together of a name. Whoever a majority names holds it, for
/// as long as a majority will; what stands at a minority is nobody's lock. Those who wait stand at each server that has
/// told them so.
[[nodiscard]] state shared_view(const std::vector<const state*>& seen, std::size_t majority);

}  // namespace holdfast::quorum
