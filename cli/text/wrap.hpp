#pragma once
#include <string>
#include <string_view>

namespace holdfast::cli {

/// The text in lines of `width` at most, broken at blanks; all but the first begin with `indent` blanks, and the first
/// has `used` letters before it. Newlines of the text stay. A word that is too long has a line of its own.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t used = 0);

}  // namespace holdfast::cli
