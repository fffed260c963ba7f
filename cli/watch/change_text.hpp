#pragma once
#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "watch/changes.hpp"

namespace holdfast::cli {

/// A line for people, without a newline; with a width, cut to it.
[[nodiscard]] std::string to_text(const change&, std::chrono::system_clock::time_point,
                                  std::optional<std::size_t> width);
[[nodiscard]] nlohmann::ordered_json to_json(const change&, std::chrono::system_clock::time_point);

}  // namespace holdfast::cli
