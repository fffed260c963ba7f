#include "config/outside_quotes.hpp"

#include <algorithm>

namespace holdfast::cli {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// A quote in the midst of something else begins nothing. Where that is hard to tell, as behind the second = of a line,
/// it has to have a space before it.
bool begins_quoted(std::string_view toml, std::size_t at) noexcept {
  if (toml[at] != '"' && toml[at] != '\'') return false;
  std::string_view line = toml.substr(0, at);
  line.remove_prefix(line.rfind('\n') + 1);
  while (!line.empty() && (line.back() == '[' || line.back() == '{')) line.remove_suffix(1);
  if (line.empty() || line.back() == ' ' || line.back() == '\t' || line.back() == ',') return true;
  const std::size_t equals = line.find('=');
  return line.back() == '.' ? equals == std::string_view::npos : equals == line.size() - 1;
}

/// How long the quote is that begins a text here: 1, or 3 for one of several lines.
std::size_t quote_at(std::string_view text) noexcept {
  return text.starts_with(R"(""")") || text.starts_with("'''") ? 3 : 1;
}

/// How long the text in quotes is that begins here, with its quotes; one that does not end goes to the end of the line,
/// or of all.
std::size_t length_of_quoted(std::string_view text) noexcept {
  const std::size_t quote = quote_at(text);
  const std::string_view end = text.substr(0, quote);
  for (std::size_t at = quote; at < text.size(); ++at) {
    if (quote == 1 && text[at] == '\n') return at;
    if (text[at] == '\\' && text.front() == '"') {
      ++at;
    } else if (text.substr(at).starts_with(end)) {
      return at + quote;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> odd_line_outside_quotes(std::string_view toml) noexcept {
  // A text of several lines may go on with anything: from there on all is looked at.
  const std::size_t of_several_lines = toml.find(R"(""")");
  for (std::size_t at = toml.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; at < toml.size();) {
    const std::string_view rest = toml.substr(at);
    if (rest.front() == '#' && at < of_several_lines) {
      at += std::min(rest.find('\n'), rest.size());
    } else if (begins_quoted(toml, at) && at < of_several_lines) {
      at += length_of_quoted(rest);
    } else if (static_cast<unsigned char>(rest.front()) >= 0x80) {
      return 1 + static_cast<std::size_t>(std::ranges::count(toml.substr(0, at), '\n'));
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::cli
