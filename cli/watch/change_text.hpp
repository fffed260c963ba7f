#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "text/json.hpp"
#include "watch/changes.hpp"

namespace holdfast::cli {

/// A line for people, without a newline; with a width, cut to it.
[[nodiscard]] std::string to_text(const change&, std::chrono::system_clock::time_point,
                                  std::optional<std::size_t> width);
[[nodiscard]] json_value to_json(const change&, std::chrono::system_clock::time_point);

}  // namespace holdfast::cli
