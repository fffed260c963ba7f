#pragma once
#include "runtime/clock.hpp"
#include "runtime/io.hpp"

namespace holdfast::core {

/// How long to wait before asking a silent store again: longer each time, and never in step with others.
[[nodiscard]] runtime::span back_off(runtime::io&, unsigned tries);

}  // namespace holdfast::core
