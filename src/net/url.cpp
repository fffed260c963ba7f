#include "net/url.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::net {

namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '%') {
      plain.push_back(text[n]);
      continue;
    }
    const int high = n + 2 < text.size() ? hex_digit(text[n + 1]) : -1;
    const int low = n + 2 < text.size() ? hex_digit(text[n + 2]) : -1;
    if (high < 0 || low < 0) throw bad_url("a % in a URL is followed by two hex digits; write %25 for a % itself");
    plain.push_back(static_cast<char>(high * 16 + low));
    n += 2;
  }
  if (plain.find('\0') != std::string::npos) throw bad_url("a URL has a NUL byte");
  return plain;
}

int port_in(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
    throw bad_url("the port of a URL is a number from 1 to 65535");
  }
  return port;
}

/// The text before and after a separator. Without one, `first` is the whole text.
struct halves {
  std::string_view first, second;
  bool both;
};
halves cut(std::string_view text, std::size_t at) {
  if (at == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, at), text.substr(at + 1), true};
}

/// The length of the scheme with its colon, or 0 if the text does not begin with a scheme.
std::size_t end_of_scheme(std::string_view text) noexcept {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  const std::size_t end = text.find_first_not_of(letters);
  return end == std::string_view::npos || end == 0 || text[end] != ':' ? 0 : end + 1;
}

/// The part up to the first / or ?. If a password contains one of them unencoded, an @ follows later; that is an error
/// here, before a piece of the password is taken for a path or an option and quoted.
std::string_view authority_of(std::string_view rest) {
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  if (rest.find('@', end) != std::string_view::npos) {
    throw bad_url("an @ behind the host of a URL is written %40; and in a password / is written %2F, and ? %3F");
  }
  return rest.substr(0, end);
}

endpoint endpoint_in(std::string_view text) {
  endpoint found;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) throw bad_url("an IPv6 address in a URL ends with ]");
    found.host = decoded(text.substr(1, close - 1));
    if (found.host.empty()) throw bad_url("there is no IPv6 address in the brackets of a URL");
    const std::string_view after = text.substr(close + 1);
    if (!after.empty() && !after.starts_with(':')) throw bad_url("after the ] of a URL comes a colon and the port");
    if (!after.empty()) found.port = port_in(after.substr(1));
    return found;
  }
  const halves host = cut(text, text.rfind(':'));
  if (host.first.find(':') != std::string_view::npos) {
    throw bad_url("an IPv6 address in a URL stands in brackets: [::1]:6379");
  }
  found.host = decoded(host.first);
  if (std::ranges::any_of(found.host, [](unsigned char c) { return c <= 0x20 || c == 0x7f; })) {
    throw bad_url("there is a blank in a host of the URL");
  }
  if (host.both) found.port = port_in(host.second);
  return found;
}

void parse_options(std::string_view query, std::map<std::string, std::string>& into) {
  while (!query.empty()) {
    const halves one = cut(query, query.find('&'));
    query = one.second;
    if (one.first.empty()) continue;
    const halves pair = cut(one.first, one.first.find('='));
    std::string name = decoded(pair.first);
    if (!pair.both) throw bad_url("an option of a URL is written name=value");
    if (!into.emplace(name, decoded(pair.second)).second) throw bad_url("the option '" + name + "' is given twice");
  }
}

/// The options whose names are listed, as they were given.
std::string options_among(std::string_view query, std::span<const std::string_view> names) {
  std::string some;
  while (!query.empty()) {
    const halves one = cut(query, query.find('&'));
    query = one.second;
    try {
      const std::string name = decoded(cut(one.first, one.first.find('=')).first);
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    } catch (const bad_url&) {
      continue;
    }
    some.append(some.empty() ? "" : "&").append(one.first);
  }
  return some;
}

}  // namespace

void check_credentials(std::string_view text) {
  const std::string_view user = cut(text, text.find(':')).first;
  const bool other_hosts = text.find(',', std::min(text.find('@'), text.size())) != std::string_view::npos;
  if (!other_hosts && user.find(',') == std::string_view::npos) return;
  throw bad_url(
      "user and password are those of all hosts of a URL, and stand once, before the first: user:password@a,b,c; a "
      "comma in them is written %2C, and an @ %40");
}

url url::parse(std::string_view text) {
  url u;
  const std::size_t begin = end_of_scheme(text);
  if (begin == 0 || !text.substr(begin).starts_with("//")) throw bad_url("a server is given as scheme://host:port");
  u.scheme = text.substr(0, begin - 1);
  const std::string_view rest = text.substr(begin + 2);
  std::string_view authority = authority_of(rest);
  const halves all = cut(rest, rest.find('?'));
  if (authority.size() < all.first.size()) u.path = decoded(all.first.substr(authority.size() + 1));
  if (const halves at = cut(authority, authority.rfind('@')); at.both) {
    check_credentials(at.first);
    const halves who = cut(at.first, at.first.find(':'));
    u.user = decoded(who.first);
    u.password = decoded(who.second);
    authority = at.second;
  }
  halves hosts = cut(authority, authority.find(','));
  endpoint first = endpoint_in(hosts.first);
  u.host = std::move(first.host);
  u.port = first.port;
  while (hosts.both) {
    hosts = cut(hosts.second, hosts.second.find(','));
    u.others.push_back(endpoint_in(hosts.first));
    if (u.others.back().host.empty()) throw bad_url("a host is missing between the commas of a URL");
  }
  parse_options(all.second, u.options);
  return u;
}

std::string without_secrets(std::string_view text, const shown_options& may_show) {
  std::size_t begin = end_of_scheme(text);
  const bool whole = text.substr(begin).starts_with("//");  // otherwise a user name may be a password
  if (whole) begin += 2;
  std::string shown(text.substr(0, begin));
  const std::string_view rest = text.substr(begin);
  const std::size_t at = rest.rfind('@');
  const std::string_view behind = rest.substr(at == std::string_view::npos ? 0 : at + 1);
  const halves parts = cut(behind, behind.find('?'));
  if (at != std::string_view::npos && whole) {
    // Without a colon it may be a password, as some programs read it.
    const std::size_t end = rest.find_first_of(":/?@");
    const bool alone = end == at && !options_among(parts.second, may_show.say_where_the_password_is).empty();
    if (end != 0 && (rest[end] == ':' || alone)) shown.append(rest.substr(0, end)).append("@");
  }
  shown.append(parts.first);
  const std::string options = options_among(parts.second, may_show.no_secrets);
  return options.empty() ? shown : shown.append("?").append(options);
}

}  // namespace holdfast::net
