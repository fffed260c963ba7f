#pragma once
#include <vector>

#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "holdfast/finding.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

/// Looks at the folder, what it is in and on, and its files. Waits for no writer, and changes nothing. Blocks; throws
/// storage::failure.
[[nodiscard]] std::vector<finding> examine(const folder&, const sessions&, runtime::instant until);

}  // namespace holdfast::directory
