#pragma once
#include <cstdint>
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// Checks a descriptor to write to. One that is not open now would soon be a file of our own, and receive the events.
[[nodiscard]] std::string open_descriptor(const std::string& text);
/// Reads a fence: a number from 1.
[[nodiscard]] value_reader fence_reader(std::uint64_t& into);

}  // namespace holdfast::cli
