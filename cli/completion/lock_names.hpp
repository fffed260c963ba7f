#pragma once
#include <string>
#include <vector>

#include "completion/candidates.hpp"

namespace holdfast::cli {

/// The names in a store (empty: the one that is meant without --store) that begin so, as `holdfast ls --json` lists
/// them. Somebody has pressed Tab: a store that does not answer within a second has none.
[[nodiscard]] std::vector<candidate> lock_names(const std::string& store, const std::string& prefix);

}  // namespace holdfast::cli
