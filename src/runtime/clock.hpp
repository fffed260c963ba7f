#pragma once
#include <cstdint>

#include "holdfast/limit.hpp"

namespace holdfast::runtime {

using instant = boot_clock::time_point;
using span = boot_clock::duration;
inline constexpr instant never = instant::max();

/// `from + by`, or `never` if that overflows.
[[nodiscard]] constexpr instant later(instant from, span by) noexcept { return by >= never - from ? never : from + by; }

/// A number that has the same meaning in all processes of this machine.
[[nodiscard]] constexpr std::int64_t nanoseconds_of(instant t) noexcept { return t.time_since_epoch().count(); }

}  // namespace holdfast::runtime
