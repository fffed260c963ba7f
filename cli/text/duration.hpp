#pragma once
#include <chrono>
#include <optional>
#include <string_view>

namespace holdfast::cli {

/// As in the options of a store's URL (src/redis/settings.cpp): "250ms", "10s", "1.5m", "2h", "1d"; a bare number is
/// seconds. Nothing: it is none, or too long for anybody.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace holdfast::cli
