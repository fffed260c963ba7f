#pragma once
#include <cstdint>

#include "holdfast/limit.hpp"

namespace holdfast::runtime {

using instant = boot_clock::time_point;
using span = boot_clock::duration;
inline constexpr instant never = instant::max();

/// `from + by`, or never.
[[nodiscard]] constexpr instant later(instant from, span by) noexcept { return by >= never - from ? never : from + by; }

/// As a number that other processes of this machine understand.
[[nodiscard]] constexpr std::int64_t nanoseconds_of(instant t) noexcept { return t.time_since_epoch().count(); }

}  // namespace holdfast::runtime
