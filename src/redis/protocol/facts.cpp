#include "redis/protocol/facts.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {

namespace {

constexpr std::size_t longest_fact = 512;  // what is longer is none of what we know

/// Cuts off what stands before the mark, and the mark; without one that is all of it.
std::string_view cut(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

facts facts::of_info(std::string_view text) {
  facts known;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#') || line.find(':') == std::string_view::npos) continue;
    const std::string_view name = cut(line, ':');
    known.all_.insert_or_assign(std::string(name), std::string(line.substr(0, longest_fact)));
  }
  return known;
}

facts facts::of_config(const value& pairs) {
  facts known;
  for (std::size_t n = 0; n + 1 < pairs.items.size(); n += 2) {
    known.all_.insert_or_assign(pairs.items[n].text, pairs.items[n + 1].text.substr(0, longest_fact));
  }
  return known;
}

std::optional<std::string_view> facts::find(std::string_view name) const {
  const auto at = all_.find(name);
  if (at == all_.end()) return std::nullopt;
  return at->second;
}

std::optional<std::int64_t> facts::number(std::string_view name) const { return number_of(text(name)); }

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
