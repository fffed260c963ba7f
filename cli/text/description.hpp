#pragma once
#include <chrono>
#include <holdfast/state.hpp>
#include <holdfast/store.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// All that is known of a name, for people: several lines, each printable.
[[nodiscard]] std::vector<std::string> describe(std::string_view name, const state&,
                                                std::chrono::system_clock::time_point now);
/// What a store promises, in a line.
[[nodiscard]] std::string describe(const guarantees&);

}  // namespace holdfast::cli
