#include "text/utf8.hpp"

namespace holdfast::cli {

character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {first, 1, false};
  char32_t code = first & (0xffU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) return {first, 1, false};
    code = code << 6U | (byte(at) & 0x3fU);
  }
  constexpr char32_t shortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < shortest[bytes] || surrogate || code > 0x10ffff) return {first, 1, false};
  return {code, bytes, true};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const character c = first_character(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

}  // namespace holdfast::cli
