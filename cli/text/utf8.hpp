#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// One character of a text, or one byte that belongs to none.
struct character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  ///< shortest form, no surrogate, not beyond Unicode
};

/// The first of a text that is not empty.
[[nodiscard]] character first_character(std::string_view text) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// What others wrote (names, labels, reasons), fit for a terminal and for one line: control characters, those that turn
/// the direction of writing or are not seen, and bytes that are no UTF-8 become \n, \t, \r or \xNN, and a backslash
/// becomes two, so that no two texts look the same and `printf %b` gives the bytes back.
[[nodiscard]] std::string printable(std::string_view text);

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

/// The text in lines of `width` at most, broken at blanks; all but the first begin with `indent` blanks, and the first
/// has `used` letters before it. Newlines of the text stay. A word that is too long has a line of its own.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t used = 0);

}  // namespace holdfast::cli
