#include "redis/lock/break_record.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

#include "redis/protocol/script.hpp"

namespace holdfast::redis {

namespace {

/// Reads a number and the space after it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || at == text.data() + text.size() || *at != ' ') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return number;
}

}  // namespace

std::chrono::system_clock::time_point date_of(std::uint64_t microseconds) noexcept {
  const auto some = std::min(microseconds, static_cast<std::uint64_t>(largest_number));
  return std::chrono::system_clock::time_point(std::chrono::microseconds(some));
}

std::optional<state::note> break_record_in(std::string_view text) {
  const std::size_t id = text.find(' ');
  if (id == std::string_view::npos) return std::nullopt;
  text.remove_prefix(id + 1);
  const std::optional<std::uint64_t> fence = take_number(text);
  const std::optional<std::uint64_t> at = take_number(text);
  const std::optional<std::uint64_t> by = take_number(text);
  if (!fence || !at || !by || *by > text.size()) return std::nullopt;
  return state::note{std::string(text.substr(*by)), std::string(text.substr(0, *by)), *fence, date_of(*at)};
}

state::note revoke_request_in_reply(std::string_view fence, std::string_view reason, std::string_view by) {
  state::note is;
  std::from_chars(fence.data(), fence.data() + fence.size(), is.fence);
  is.reason = reason.substr(std::min<std::size_t>(1, reason.size()));
  if (!by.starts_with('@')) return is;
  by.remove_prefix(1);
  if (const std::optional<std::uint64_t> at = take_number(by)) is.at = date_of(*at);
  is.by = by;
  return is;
}

}  // namespace holdfast::redis
