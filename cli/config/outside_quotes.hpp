#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace holdfast::cli {

/// The line, from 1, of the first character of a TOML file that is not ASCII and stands neither in quotes (three double
/// ones are none here: we have no text of several lines) nor in a comment: there is no such thing in TOML. toml++ 3.3
/// may do anything when it meets one.
[[nodiscard]] std::optional<std::size_t> odd_line_outside_quotes(std::string_view toml) noexcept;

}  // namespace holdfast::cli
