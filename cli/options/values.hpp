#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace holdfast::cli {

/// An option with a duration: see text/duration.hpp.
CLI::Option* add_duration(CLI::App&, const std::string& option, std::chrono::milliseconds& into,
                          const std::string& help);
CLI::Option* add_duration(CLI::App&, const std::string& option, std::optional<std::chrono::milliseconds>& into,
                          const std::string& help);
/// A descriptor to write to. One that is not open now would soon be a file of our own, and what is told would go there.
CLI::Option* add_descriptor(CLI::App&, const std::string& option, int& into, const std::string& help);

/// An option with a fence: a number from 1.
CLI::Option* add_fence(CLI::App&, const std::string& option, std::uint64_t& into, const std::string& help);

}  // namespace holdfast::cli
