#include "redis/lock/inspection.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "redis/lock/break_record.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"
#include "storage/state.hpp"

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;

/// Returns the number at the beginning of a text, or 0.
template <class Number>
Number number_in(std::string_view text) {
  Number n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the number of permits from the value of a semaphore, `#<permits>:<taken>:<last number>`, or 0.
std::uint32_t size_in(std::string_view in_lock) {
  const std::size_t end = in_lock.find(':');
  if (!in_lock.starts_with('#') || end == std::string_view::npos) return 0;
  const std::string_view size = in_lock.substr(1, end - 1);
  return is_digits(size) ? number_in<std::uint32_t>(size) : 0;
}

bool makes_sense(const value& v) {
  using kind = value::kind;
  constexpr kind wanted[] = {kind::text,    kind::integer, kind::integer, kind::integer, kind::integer, kind::list,
                             kind::integer, kind::list,    kind::list,    kind::text,    kind::text};
  if (!v.is(kind::list) || v.items.size() != std::size(wanted)) return false;
  for (std::size_t n = 0; n < v.items.size(); ++n) {
    if (!v.items[n].is(wanted[n])) return false;
  }
  return true;
}

std::uint64_t count(const value& v) { return static_cast<std::uint64_t>(std::max<std::int64_t>(v.number, 0)); }

}  // namespace

std::optional<inspection> inspection::of(const value& v) {
  if (!makes_sense(v)) return std::nullopt;
  const std::string_view in_lock = v.items[0].text;
  const std::int64_t left = v.items[1].number;
  const std::uint64_t last = count(v.items[2]);
  const std::uint64_t now = count(v.items[3]);
  const std::vector<value>& those = v.items[5].items;
  const auto show_fence = [&](state::holder& who, std::uint64_t fence) {
    who.fence = fence;
    if (fence != 0) who.since = date_of(std::min(fence, now));
  };
  inspection seen;
  state& is = seen.is;
  const bool readers = in_lock.starts_with('+') && is_digits(in_lock.substr(1));
  is.permits = size_in(in_lock);
  if (readers || is.permits != 0) {
    is.holding = count(v.items[4]);
    for (std::size_t n = 0; n + 1 < those.size(); n += 2) {
      state::holder& who = is.holders.emplace_back();
      (void)seen.add(who, those[n].text);
      if (readers) show_fence(who, number_in<std::uint64_t>(in_lock.substr(1)));
      who.left = milliseconds(number_in<std::int64_t>(those[n + 1].text) - v.items[3].number / 1'000);
    }
  } else if (!in_lock.empty()) {
    is.holding = 1;
    state::holder& who = is.holders.emplace_back();
    who.foreign = !seen.add(who, in_lock);
    if (!who.foreign && last >= fences_in_a_block) show_fence(who, last - (fences_in_a_block - 1));
    if (left >= 0) who.left = milliseconds(left);
  }
  is.waiting = count(v.items[6]);
  if (is.waiting != 0) is.waiting_since = date_of(std::min(number_in<std::uint64_t>(v.items[10].text), now));
  for (const value& each : v.items[7].items) (void)seen.add(is.waiters.emplace_back(), each.text);
  const std::vector<value>& asked = v.items[8].items;
  if (asked.size() == 3) is.asked = revoke_request_in_reply(asked[0].text, asked[1].text, asked[2].text);
  is.broken = break_record_in(v.items[9].text);
  return seen;
}

bool inspection::add(state::party& who, std::string_view owner) {
  const std::optional<owner_reading> read = owner_reading::of(owner);
  inboxes.emplace_back(read ? read->inbox : std::string_view());
  if (!read) return false;
  storage::share has;
  if (read->wants == '+') has = storage::share::reader();
  if (read->wants == ':') has = storage::share::permits(read->permits, read->permits);
  storage::describe(who, read->id, has, read->label);
  return true;
}

std::size_t inspection::introduce(const value& records, std::size_t from) {
  const auto show = [&](std::size_t n, state::party& who) {
    if (from + n >= records.items.size()) return;
    const std::string_view record = records.items[from + n].text;  // empty for nil
    const std::size_t first = record.find('\n');
    const std::size_t second = first == std::string_view::npos ? first : record.find('\n', first + 1);
    if (second == std::string_view::npos) return;
    who.host = record.substr(0, first);
    who.pid = number_in<std::int64_t>(record.substr(first + 1, second - first - 1));
    who.program = record.substr(second + 1);
  };
  for (std::size_t n = 0; n < is.holders.size(); ++n) show(n, is.holders[n]);
  for (std::size_t n = 0; n < is.waiters.size(); ++n) show(is.holders.size() + n, is.waiters[n]);
  return from + inboxes.size();
}

}  // namespace holdfast::redis
