#include "redis/lock/inbox.hpp"

#include <algorithm>
#include <charconv>

#include "redis/protocol/script.hpp"

namespace holdfast::redis {

namespace {

/// Reads a number and the space after it.
bool take_number(std::string_view& text, auto& into) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [at, error] = std::from_chars(begin, end, into);
  if (error != std::errc() || at == end || *at != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(at - begin) + 1);
  return true;
}

std::optional<message> grant_in(std::string_view text) {
  message m;
  std::size_t owner = 0;
  if (!take_number(text, m.fence) || !take_number(text, m.server_time) || !take_number(text, owner)) return {};
  if (m.fence > static_cast<std::uint64_t>(largest_number)) return {};
  if (m.server_time < 0 || m.server_time > largest_number || owner > text.size()) return {};
  m.owner = text.substr(0, owner);
  m.key = text.substr(owner);
  return m;
}

std::optional<message> revoke_request_in(std::string_view text) {
  message m{.what = message::kind::revoke_request};
  std::size_t owner = 0;
  if (!take_number(text, m.fence) || !take_number(text, owner) || owner > text.size()) return {};
  m.owner = text.substr(0, owner);
  m.reason = text.substr(owner);
  return m;
}

}  // namespace

std::optional<message> message::parse(std::string_view text) {
  const std::string_view rest = text.substr(std::min<std::size_t>(1, text.size()));
  switch (text.empty() ? '\0' : text.front()) {
    case '?': return revoke_request_in(rest);
    case '!': return message{.what = kind::loss, .owner = rest};
    case '~': return message{.what = kind::change, .key = rest};
    default: return grant_in(text);
  }
}

std::optional<message> message::of_renewal(std::string_view owner, std::string_view text) {
  message m{.what = kind::revoke_request, .owner = owner};
  if (!take_number(text, m.fence)) return {};
  m.reason = text;
  return m;
}

void inbox::add(std::string_view owner, addressee& who) {
  waiting_.with([&](auto& all) { all[owner] = &who; });
}

void inbox::remove(std::string_view owner) noexcept {
  waiting_.with([&](auto& all) { all.erase(owner); });
}

bool inbox::deliver(const message& m) {
  return waiting_.with([&](auto& all) {
    const auto at = all.find(m.owner);
    if (at == all.end()) return false;
    at->second->granted.with([&](auto& last) { last = addressee::grant{m.fence, m.server_time}; });
    at->second->called.set();
    return true;
  });
}

}  // namespace holdfast::redis
