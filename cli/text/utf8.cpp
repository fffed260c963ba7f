#include "text/utf8.hpp"

#include <algorithm>
#include <iterator>

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

namespace {

bool is_harmless(char32_t c) noexcept {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;  // control characters, which may begin escape codes
  if ((c >= 0x200b && c <= 0x200f && c != 0x200d) || c == 0xad)
    return false;  // invisible, or changes the direction of text
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

namespace {

struct range {
  char32_t first, last;
};

/// Combining marks.
constexpr range without_width[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},     {0x64b, 0x65f},   {0x6d6, 0x6dc},
    {0x900, 0x902},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},     {0xe31, 0xe31},   {0xe34, 0xe3a},
    {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200d, 0x200d},   {0x20d0, 0x20f0}, {0x302a, 0x302d},
    {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

/// East Asian wide characters and emoji.
constexpr range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x26bd, 0x26be},   {0x26d4, 0x26d4},
    {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f18e},
    {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

template <std::size_t Count>
bool is_in(const range (&ranges)[Count], char32_t c) noexcept {
  const range* const at =
      std::lower_bound(std::begin(ranges), std::end(ranges), c, [](const range& r, char32_t v) { return r.last < v; });
  return at != std::end(ranges) && at->first <= c;
}

std::size_t width_of(char32_t c) noexcept {
  if (c < 0x300) return 1;
  if (is_in(without_width, c)) return 0;
  return is_in(wide, c) ? 2 : 1;
}

constexpr std::string_view ellipsis = "…";

/// Returns the length of the longest prefix that fits into the columns.
std::size_t bytes_within(std::string_view text, std::size_t columns) noexcept {
  std::size_t used = 0, at = 0;
  while (at < text.size()) {
    const character c = first_character(text.substr(at));
    used += width_of(c.code);
    if (used > columns) break;
    at += c.bytes;
  }
  return at;
}

std::string spaces_for(std::string_view text, std::size_t columns) {
  const std::size_t has = columns_of(text);
  return std::string(has < columns ? columns - has : 0, ' ');
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t all = 0;
  while (!text.empty()) {
    const character c = first_character(text);
    all += width_of(c.code);
    text.remove_prefix(c.bytes);
  }
  return all;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns == 0) return {};
  if (bytes_within(text, columns) == text.size()) return std::string(text);
  return std::string(text.substr(0, bytes_within(text, columns - 1))).append(ellipsis);
}

std::vector<std::string> wrap_columns(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  do {
    std::size_t bytes = bytes_within(text, columns);
    if (bytes == 0 && !text.empty())
      bytes = first_character(text).bytes;  // a wide character where there is only one column
    lines.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  } while (!text.empty());
  return lines;
}

std::string pad_right(std::string_view text, std::size_t columns) {
  return std::string(text) + spaces_for(text, columns);
}

std::string pad_left(std::string_view text, std::size_t columns) { return spaces_for(text, columns).append(text); }

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t used) {
  std::string all;
  std::size_t column = used;
  bool first = true;  // no word in this line yet
  const auto next_line = [&] {
    all += '\n';
    all.append(indent, ' ');
    column = indent;
    first = true;
  };
  while (!text.empty()) {
    if (text.front() == '\n') {
      next_line();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t blanks = text.find_first_not_of(' ');
    if (blanks == std::string_view::npos) break;
    const std::string_view word = text.substr(blanks, text.find_first_of(" \n", blanks) - blanks);
    if (!first && column + blanks + word.size() > width) {
      next_line();
    } else {
      all.append(blanks, ' ');
      column += blanks;
    }
    all += word;
    column += word.size();
    first = false;
    text.remove_prefix(blanks + word.size());
  }
  return all;
}

}  // namespace holdfast::cli
