#pragma once
#include <holdfast/limit.hpp>

namespace holdfast::cli {

/// For poll(): until then, but no longer than it can wait.
[[nodiscard]] int poll_timeout(boot_clock::time_point until) noexcept;

}  // namespace holdfast::cli
