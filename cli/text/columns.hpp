#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// How many columns a printable text takes on a terminal: two for what is wide there, none for what is put on top of
/// the character before. By a table of our own: that of the C library depends on the locale.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;
/// No wider than that; what was cut ends in "…".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);
/// Over several lines, none wider than that; a text has one line at least.
[[nodiscard]] std::vector<std::string> wrap_columns(std::string_view text, std::size_t columns);
/// No narrower than that: spaces follow, or go before.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t columns);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t columns);

}  // namespace holdfast::cli
