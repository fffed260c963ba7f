#pragma once
#include "runtime/clock.hpp"
#include "runtime/io.hpp"

namespace holdfast::runtime {

/// How long to wait before a store that did not answer is asked again: longer each time, and random, so that clients do
/// not ask in step.
[[nodiscard]] span back_off(io&, unsigned tries);

}  // namespace holdfast::runtime
