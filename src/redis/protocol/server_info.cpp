#include "redis/protocol/server_info.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {

namespace {

constexpr std::size_t longest_value = 512;  // none of the values that we read is longer

/// Removes and returns the text before the mark, and removes the mark. Without a mark it takes the whole text.
std::string_view cut(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

server_info server_info::of_info(std::string_view text) {
  server_info known;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#') || line.find(':') == std::string_view::npos) continue;
    const std::string_view name = cut(line, ':');
    known.all_.insert_or_assign(std::string(name), std::string(line.substr(0, longest_value)));
  }
  return known;
}

server_info server_info::of_config(const value& pairs) {
  server_info known;
  for (std::size_t n = 0; n + 1 < pairs.items.size(); n += 2) {
    known.all_.insert_or_assign(pairs.items[n].text, pairs.items[n + 1].text.substr(0, longest_value));
  }
  return known;
}

std::optional<std::string_view> server_info::find(std::string_view name) const {
  const auto at = all_.find(name);
  if (at == all_.end()) return std::nullopt;
  return at->second;
}

std::optional<std::int64_t> server_info::number(std::string_view name) const { return number_of(text(name)); }

void server_info::add(const server_info& other) {
  for (const auto& [name, text] : other.all_) set(name, text);
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::string_view field_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view field = cut(text, ',');
    if (cut(field, '=') == name) return field;
  }
  return {};
}

}  // namespace holdfast::redis
