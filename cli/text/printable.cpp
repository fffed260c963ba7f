#include "text/printable.hpp"

#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

bool is_harmless(char32_t c) noexcept {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;                       // control; some begin escape codes
  if ((c >= 0x200b && c <= 0x200f && c != 0x200d) || c == 0xad) return false;  // not seen, or turning
  if ((c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f)) return false;
  return c != 0x61c && c != 0xfeff;
}

void append_escaped(std::string& all, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    all.append("\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string all;
  all.reserve(text.size());
  while (!text.empty()) {
    const character c = first_character(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
    if (c.valid && c.code == '\\') {
      all += "\\\\";
    } else if (c.valid && is_harmless(c.code)) {
      all += bytes;
    } else if (c.valid && (c.code == '\n' || c.code == '\t' || c.code == '\r')) {
      all += c.code == '\n' ? "\\n" : c.code == '\t' ? "\\t" : "\\r";
    } else {
      append_escaped(all, bytes);
    }
  }
  return all;
}

}  // namespace holdfast::cli
