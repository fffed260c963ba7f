#pragma once
#include <string>
#include <string_view>

#include "holdfast/state.hpp"
#include "storage/owner.hpp"
#include "storage/share.hpp"

namespace holdfast::storage {

/// Fills in what a claim says of its owner.
void describe(state::party&, const owner_id&, const share&, std::string_view label);

}  // namespace holdfast::storage
