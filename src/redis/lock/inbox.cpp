#include "redis/lock/inbox.hpp"

#include <charconv>

#include "redis/protocol/script.hpp"

namespace holdfast::redis {

namespace {

/// A number and the blank behind it.
bool take_number(std::string_view& text, auto& into) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [at, error] = std::from_chars(begin, end, into);
  if (error != std::errc() || at == end || *at != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(at - begin) + 1);
  return true;
}

}  // namespace

std::optional<message> message::parse(std::string_view text) {
  message m;
  std::size_t owner = 0;
  if (!take_number(text, m.fence) || !take_number(text, m.server_time) || !take_number(text, owner)) return {};
  if (m.fence > static_cast<std::uint64_t>(largest_number)) return {};
  if (m.server_time < 0 || m.server_time > largest_number || owner > text.size()) return {};
  m.owner = text.substr(0, owner);
  m.lock = text.substr(owner);
  return m;
}

std::optional<plea> plea::parse(std::string_view text) {
  plea p;
  std::size_t owner = 0;
  if (!text.starts_with('?')) return {};
  text.remove_prefix(1);
  if (!take_number(text, p.fence) || !take_number(text, owner) || owner > text.size()) return {};
  p.owner = text.substr(0, owner);
  p.reason = text.substr(owner);
  return p;
}

std::optional<plea> plea::of_renewal(std::string_view owner, std::string_view text) {
  plea p;
  if (!take_number(text, p.fence)) return {};
  p.owner = owner;
  p.reason = text;
  return p;
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
