#include "redis/lock/cell.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "redis/lock/session.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::span;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::milliseconds;
using storage::reading;

/// {version, ms until it goes, number, note}
std::optional<reading> reading_in(const value& v) {
  if (!v.is(value::kind::list) || v.items.size() != 4 || !is_number(v.items[0], 0) || !is_number(v.items[1], 0))
    return std::nullopt;
  const value& number = v.items[2];
  if (!number.is(value::kind::text) || !v.items[3].is(value::kind::text)) return std::nullopt;
  reading is{.version = static_cast<std::uint64_t>(v.items[0].number),
             .there = v.items[1].number > 0,
             .number = 0,
             .note = v.items[3].text,
             .left = milliseconds(v.items[1].number)};
  const char* const end = number.text.data() + number.text.size();
  const auto [at, error] = std::from_chars(number.text.data(), end, is.number);
  if (error != std::errc() || at != end) return std::nullopt;
  return is;
}

}  // namespace

cell::cell(session& s, std::string_view name)
    : session_(s), keys_(s.config.prefix, name), bad_name_(!keys::may_be(s.config.prefix, name)) {}

task<answer<reading>> cell::get(io& i, limit l) {
  if (bad_name_) co_return answer<reading>::unknown(keys::refused());
  command c = call_of(scripts::cell_get, 1, 0);
  c.add(keys_.number);
  reply r = co_await session_.run(i, scripts::cell_get, c, std::move(l));
  if (auto why = failed<reading>(r, session_.config.prefix)) co_return std::move(*why);
  std::optional<reading> is = reading_in(std::get<value>(r));
  if (!is) co_return answer<reading>::unknown(malformed_reply("cell_get"));
  co_return answer<reading>::yes(std::move(*is));
}

task<answer<std::uint64_t>> cell::put(io& i, std::uint64_t seen, storage::change wanted, limit l) {
  if (bad_name_) co_return answer<std::uint64_t>::unknown(keys::refused());
  command c = call_of(scripts::cell_put, 2, 6);
  c.add(keys_.number).add(keys_.watchers).add(static_cast<std::int64_t>(seen));
  c.add(sixteen(wanted.id.high, wanted.id.low)).add(std::to_string(wanted.number)).add(wanted.note);
  c.add(wanted.ttl.count()).add(session_.inboxes_of(keys_.number));
  reply r = co_await session_.run(i, scripts::cell_put, c, std::move(l));
  if (auto why = no_number<std::uint64_t>(r, "cell_put", session_.config.prefix, -1)) co_return std::move(*why);
  const std::int64_t made = std::get<value>(r).number;
  if (made > 0) co_return answer<std::uint64_t>::yes(static_cast<std::uint64_t>(made));
  if (made < 0 && wanted.again) co_return answer<std::uint64_t>::unknown(storage::forgotten_change());
  co_return answer<std::uint64_t>::no();
}

// Also wakes up by time: a message may be lost, and an expiry sends none.
task<wake> cell::changed(io& i, reading seen, limit l) {
  runtime::signal notified;
  const storage::shard at = session_.server->shard_of(slot_of(keys_.number));
  const watchers::entry ours(session_.cell_watchers, keys_.number, notified, at);  // before the server registers it
  const milliseconds pause = storage::look_again + milliseconds(i.random() % 5'000);
  const std::optional<milliseconds> left = co_await watch(i, seen, l);
  if (left && *left < 0ms) co_return wake::signalled;
  instant next = later(i.now(), span(100ms) + milliseconds(i.random() % 100));  // the next read reports the error
  if (left) next = later(i.now(), *left > 0ms ? std::min(pause, *left + milliseconds(1 + i.random() % 3)) : pause);
  const limit nearer(std::min(l.at(), next), l.stop());
  const wake why = co_await wait(i, notified, nearer);
  co_return why == wake::late&& next < l.at() ? wake::signalled : why;
}

/// Returns how long the cell will stay, 0 if there is none, a negative time if it has changed, and nothing if the
/// server did not reply.
task<std::optional<milliseconds>> cell::watch(io& i, reading seen, limit l) {
  const std::optional<storage::failure> deaf = co_await session_.server->listen(i, keys_.number, l);
  if (deaf || bad_name_) co_return std::nullopt;
  command c = call_of(scripts::cell_watch, 2, 3);
  c.add(keys_.number).add(keys_.watchers).add(static_cast<std::int64_t>(seen.version));
  c.add(seen.there ? "1" : "0").add(session_.id);
  reply r = co_await session_.run(i, scripts::cell_watch, c, std::move(l));
  if (no_number<std::uint64_t>(r, "cell_watch", session_.config.prefix, -1)) co_return std::nullopt;
  co_return milliseconds(std::get<value>(r).number);
}

}  // namespace holdfast::redis
