#pragma once
#include <string>
#include <string_view>

#include "holdfast/state.hpp"
#include "store/owner.hpp"
#include "store/share.hpp"

namespace holdfast::seam {

/// Fills in what a claim says of its owner.
void describe(state::party&, const owner_id&, const share&, std::string_view label);

}  // namespace holdfast::seam
