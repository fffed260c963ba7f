#pragma once
#include <cstddef>
#include <string_view>

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

}  // namespace holdfast::cli
