#include "top/keys.hpp"

#include <optional>
#include <utility>

#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

using key_kind = key::kind;

/// What follows ESC [ or ESC O.
std::optional<key> special(std::string_view code) {
  struct known {
    std::string_view code;
    key_kind what;
  };
  constexpr known all[] = {{"A", key_kind::up},         {"B", key_kind::down}, {"5~", key_kind::page_up},
                           {"6~", key_kind::page_down}, {"H", key_kind::home}, {"1~", key_kind::home},
                           {"7~", key_kind::home},      {"F", key_kind::end},  {"4~", key_kind::end},
                           {"8~", key_kind::end}};
  for (const known& each : all) {
    if (each.code == code) return key{each.what};
  }
  return std::nullopt;
}

/// How many bytes an escape code has that begins the text; 0: it is not complete.
std::size_t length_of_code(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != '[' && text[1] != 'O') return 1;
  for (std::size_t at = 2; at < text.size(); ++at) {
    if (text[at] >= '@' && text[at] <= '~') return at + 1;
  }
  return 0;
}

std::optional<key> plain(const character& c, std::string_view bytes) {
  if (c.code == '\r' || c.code == '\n') return key{key_kind::enter};
  if (c.code == 0x7f || c.code == '\b') return key{key_kind::backspace};
  if (!c.valid || c.code < ' ') return std::nullopt;
  return key{key_kind::text, std::string(bytes)};
}

/// A character whose other bytes are still to come.
bool is_cut(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t whole = first > 0xf4 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  return text.size() < whole;
}

}  // namespace

std::vector<key> key_reader::take(std::string_view bytes) {
  rest_ += bytes;
  std::string_view text = rest_;
  std::vector<key> keys;
  while (!text.empty()) {
    std::optional<key> found;
    std::size_t length = 0;
    if (text.front() == '\x1b') {
      length = length_of_code(text);
      if (length == 0) break;
      found = length == 1 ? key{key_kind::escape} : special(text.substr(2, length - 2));
    } else {
      if (is_cut(text)) break;
      const character c = first_character(text);
      length = c.bytes;
      found = plain(c, text.substr(0, length));
    }
    if (found) keys.push_back(std::move(*found));
    text.remove_prefix(length);
  }
  rest_ = std::string(text);
  return keys;
}

std::vector<key> key_reader::give_up() {
  const std::string left = std::exchange(rest_, {});
  if (left == "\x1b") return {key{key_kind::escape}};
  return {};
}

}  // namespace holdfast::cli
