#pragma once
#include <string>
#include <string_view>

#include "holdfast/state.hpp"
#include "storage/owner.hpp"
#include "storage/share.hpp"

namespace holdfast::storage {

/// Fills in the owner, the label and the share of a claim.
void describe(state::party&, const owner_id&, const share&, std::string_view label);

}  // namespace holdfast::storage
