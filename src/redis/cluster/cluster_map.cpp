#include "redis/cluster/cluster_map.hpp"

#include "redis/protocol/server_info.hpp"
#include "redis/protocol/slots.hpp"

namespace holdfast::redis {

namespace {

bool is_slot(std::int64_t n) { return n >= 0 && n < static_cast<std::int64_t>(slots_of_a_cluster); }
bool is_port(std::int64_t n) { return n >= 1 && n <= 65535; }

/// Finds a value in a list of names and values in turn.
std::string_view named(const value& pairs, std::string_view name) {
  for (std::size_t n = 0; n + 1 < pairs.items.size(); n += 2) {
    if (pairs.items[n].text == name) return pairs.items[n + 1].text;
  }
  return {};
}

/// {host, port, id, {name, value, ...}}. The host is `?` if the node is configured to use its name and has none.
std::optional<net::endpoint> node_in(const value& v, const net::endpoint& asked) {
  if (v.items.size() < 2 || !v.items[1].is(value::kind::integer) || !is_port(v.items[1].number)) return std::nullopt;
  std::string host = v.items[0].text;
  if (host == "?") host = v.items.size() > 3 ? named(v.items[3], "ip") : "";
  if (host.empty()) host = asked.host;
  return net::endpoint{std::move(host), static_cast<int>(v.items[1].number)};
}

/// Removes and returns the word up to the next blank.
std::string_view word_of(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
  return word;
}

}  // namespace

std::optional<std::vector<slot_range>> slots_in(const value& table, const net::endpoint& asked) {
  if (!table.is(value::kind::list)) return std::nullopt;
  std::vector<slot_range> all;
  for (const value& each : table.items) {
    if (each.items.size() < 3 || !each.items[0].is(value::kind::integer) || !each.items[1].is(value::kind::integer))
      return std::nullopt;
    const std::int64_t first = each.items[0].number, last = each.items[1].number;
    std::optional<net::endpoint> primary = node_in(each.items[2], asked);
    if (!is_slot(first) || !is_slot(last) || first > last || !primary) return std::nullopt;
    all.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last), std::move(*primary),
                   each.items.size() - 3});
  }
  return all;
}

std::optional<redirection> redirection::of(std::string_view error, const net::endpoint& asked) {
  const std::string_view what = word_of(error);
  if (what != "MOVED" && what != "ASK") return std::nullopt;
  const std::optional<std::int64_t> slot = number_of(word_of(error));
  const std::string_view where = word_of(error);
  const std::size_t colon = where.rfind(':');  // an IPv6 address contains colons, and has no brackets
  if (!slot || !is_slot(*slot) || colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> port = number_of(where.substr(colon + 1));
  if (!port || !is_port(*port)) return std::nullopt;
  const std::string_view host = where.substr(0, colon);
  const bool unnamed = host.empty() || host == "?";
  return redirection{what == "ASK",
                     static_cast<std::uint16_t>(*slot),
                     {unnamed ? asked.host : std::string(host), static_cast<int>(*port)}};
}

}  // namespace holdfast::redis
