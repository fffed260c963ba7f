#pragma once
#include <vector>

#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "holdfast/finding.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

/// Examines the folder, the folders above it, its file system and its files. Changes nothing and waits for no writer.
/// Blocks. Throws storage::failure.
[[nodiscard]] std::vector<finding> check_health(const folder&, const sessions&, runtime::instant until);

}  // namespace holdfast::directory
