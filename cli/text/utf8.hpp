#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// A character, or a byte that is not valid UTF-8.
struct character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  ///< shortest form, no surrogate, within Unicode
};

/// Returns the first character of a text, which must not be empty.
[[nodiscard]] character first_character(std::string_view text) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Escapes text from other clients (names, labels, reasons) for a terminal and a single line. Control characters,
/// invisible and direction-changing characters, and invalid UTF-8 become \n, \t, \r or \xNN, and a backslash becomes
/// two. Different texts never look the same, and `printf %b` restores the bytes.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns the number of terminal columns of a printable text: two for wide characters, none for combining marks. Uses
/// its own table because that of the C library depends on the locale.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;
/// Cuts the text to this width. A cut text ends in "…".
[[nodiscard]] std::string cut(std::string_view text, std::size_t columns);
/// Splits the text into lines of at most this width; at least one line.
[[nodiscard]] std::vector<std::string> wrap_columns(std::string_view text, std::size_t columns);
/// Pad the text with spaces on the right or on the left.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t columns);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t columns);

/// Breaks the text at spaces into lines of at most `width`. All lines but the first are indented, and the first has
/// `used` columns before it. Newlines are kept. A word that is too long gets its own line.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0, std::size_t used = 0);

}  // namespace holdfast::cli
