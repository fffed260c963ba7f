#pragma once
#include "holdfast/limit.hpp"

namespace holdfast::runtime {

using instant = boot_clock::time_point;
using span = boot_clock::duration;
inline constexpr instant never = instant::max();

/// `from + by`, or never.
[[nodiscard]] constexpr instant later(instant from, span by) noexcept { return by >= never - from ? never : from + by; }

}  // namespace holdfast::runtime
