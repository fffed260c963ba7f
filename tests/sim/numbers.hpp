#pragma once
#include <cstdint>

#include "sim/run.hpp"

namespace holdfast::sim {

/// A world of latches and elections: clients that drift and pause, count, lead and watch, over a network that loses,
/// repeats and delays.
[[nodiscard]] result run_numbers(std::uint64_t seed, bool trace);

}  // namespace holdfast::sim
