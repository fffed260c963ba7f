#include "redis/redlock/voter.hpp"

#include <algorithm>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/server_info.hpp"
#include "seeded_bugs.hpp"
#include "storage/self.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::span;
using runtime::task;
using storage::answer;
using storage::candidate;
using storage::done;
using storage::vote;

/// A waiter that is not notified polls again after this time.
constexpr milliseconds look_again = 1s;

/// The uptime of a server is in whole seconds and includes the one in which it was started.
constexpr milliseconds up_to_a_second = 1s;

/// A single server publishes all messages in one channel.
const std::string any_key;

struct lock_watching final : storage::watching {
  lock_watching(watchers& all, const std::string& key, runtime::signal& who) : at(all, key, who, storage::no_shard) {}
  const watchers::entry at;
};

}  // namespace

voter::voter(std::unique_ptr<client> c, rules r) : client_(std::move(c)), session_(client_->shared()), rules_(r) {}

/// The number of the attempt replaces the claim ttl, which is not used here.
std::string voter::owner_of(const candidate& who) const {
  return owner_text(session_.id, who.owner, storage::share(), milliseconds(who.attempt), who.label);
}

std::string voter::waiter_of(const candidate& who) const {
  return owner_text(session_.id, who.owner, storage::share(), 0ms, who.label);
}

bool voter::is_reached() const noexcept { return session_.server->listens(any_key); }

task<std::optional<storage::failure>> voter::reach(io& i, limit l) {
  return session_.server->listen(i, any_key, std::move(l));
}

task<answer<vote>> voter::ask(io& i, const candidate& who, limit l) {
  const settings& s = session_.config;
  if (!keys::may_be(s.prefix, who.name)) co_return answer<vote>::unknown(keys::refused());
  const keys k(s.prefix, who.name);
  command c = call_of(scripts::vote, 3, 5);
  c.add(k.lock).add(k.fence).add(k.queue).add(owner_of(who)).add(who.ttl.count());
  c.add(static_cast<std::int64_t>(who.proposed)).add(who.waits ? waiter_of(who) : std::string());
  c.add(static_cast<std::int64_t>(who.since)).tells_time_behind(2);
  reply r = co_await run_of_age(i, scripts::vote, c, std::move(l));
  if (auto why = failed<vote>(r, s.prefix)) co_return std::move(*why);
  const value& v = std::get<value>(r);
  vote got;
  if (is_number(v, 1)) {
    got.fence = static_cast<std::uint64_t>(v.number);
    co_return answer<vote>::yes(std::move(got));
  }
  const bool is_no = v.is(value::kind::list) && v.items.size() == 3 && v.items[0].is(value::kind::integer) &&
                     v.items[1].is(value::kind::text) && is_number(v.items[2], 0);
  if (!is_no) co_return answer<vote>::unknown(malformed_reply("vote"));
  const std::string& owner = v.items[1].text;
  const std::optional<owner_reading> ours = owner_reading::of(owner);
  if (ours && ours->id == who.owner && ours->inbox != session_.id) {
    co_return answer<vote>::unknown(storage::failure(
        errc::bad_url, "it is one of the others, under another name, and has one vote (" + where() + ")"));
  }
  got.holder = ours && !seeded(bug::holder_by_inbox) ? owner.substr(ours->inbox.size())
                                                     : owner;  // its inbox differs between the servers
  got.label = ours ? std::string(ours->label) : "another library";
  got.again = ours ? look_again : s.poll;  // another library sends no message
  // One millisecond more, because a key with 0 ms left still exists. A negative number means no ttl.
  if (v.items[0].number >= 0) got.again = std::min(got.again, milliseconds(v.items[0].number) + 1ms);
  co_return answer<vote>::yes(std::move(got));
}

task<answer<done>> voter::raise_fence(io& i, const candidate& who, std::uint64_t fence, limit l) {
  const keys k(session_.config.prefix, who.name);
  command c = call_of(scripts::raise, 3, 2);
  c.add(k.lock).add(k.fence).add(k.queue).add(owner_of(who)).add(static_cast<std::int64_t>(fence));
  reply r = co_await run_of_age(i, scripts::raise, c, std::move(l));
  if (auto why = no_number<done>(r, "raise", session_.config.prefix)) co_return std::move(*why);
  if (std::get<value>(r).number == 0) co_return answer<done>::no();
  co_return answer<done>::yes(done());
}

/// A server that is too young also gets the lock, so that it rejects other clients when it votes again, but it does not
/// count yet.
task<answer<done>> voter::repair(io& i, const candidate& who, std::uint64_t fence, milliseconds ttl, limit l) {
  const keys k(session_.config.prefix, who.name);
  command c = call_of(scripts::raise, 4, 4);
  c.add(k.lock).add(k.fence).add(k.queue).add(k.broken).add(owner_of(who)).add(static_cast<std::int64_t>(fence));
  c.add(ttl.count()).add(waiter_of(who));
  reply r = co_await session_.run(i, scripts::raise, c, l);
  if (auto why = no_number<done>(r, "raise", session_.config.prefix)) co_return std::move(*why);
  if (std::get<value>(r).number == 0) co_return answer<done>::no();
  if (!rules_.young_ones_vote) {
    std::optional<storage::failure> too_young = co_await come_of_age(i, std::move(l));
    if (too_young) co_return answer<done>::unknown(std::move(*too_young));
  }
  co_return answer<done>::yes(done());
}

/// Uses the script of a single server, so that a revoke request reaches the holder in the same way. The owner is that
/// of one attempt, which no server votes for again, so it cannot be confused with another grant.
task<answer<done>> voter::renew(io& i, const candidate& who, milliseconds ttl, limit l) {
  const keys k(session_.config.prefix, who.name);
  const std::string owner = owner_of(who);
  command c = call_of(scripts::renew, 3, 4);
  c.add(k.lock).add(k.asked).add(k.fence).add(owner).add(ttl.count()).add("").add("day");
  reply r = co_await run_of_age(i, scripts::renew, c, std::move(l));
  const value* const v = std::get_if<value>(&r);
  if (v != nullptr && v->is(value::kind::text)) {
    const std::optional<message> asks = message::of_renewal(owner, v->text);
    if (asks) session_.notify_holder(*asks);
    co_return asks ? answer<done>::yes(done()) : answer<done>::unknown(malformed_reply("renew"));
  }
  if (auto why = no_number<done>(r, "renew", session_.config.prefix)) co_return std::move(*why);
  if (std::get<value>(r).number == 0) co_return answer<done>::no();
  co_return answer<done>::yes(done());
}

task<answer<done>> voter::withdraw(io& i, const candidate& who, bool leaves, limit l) {
  const keys k(session_.config.prefix, who.name);
  command c = call_of(scripts::withdraw, 2, leaves ? 3 : 1);
  c.add(k.lock).add(k.queue).add(owner_of(who));
  if (leaves) c.add(waiter_of(who)).add(session_.inboxes);
  reply r = co_await session_.run(i, scripts::withdraw, c, std::move(l));
  if (auto why = no_number<done>(r, "withdraw", session_.config.prefix)) co_return std::move(*why);
  if (std::get<value>(r).number == 0) co_return answer<done>::no();
  co_return answer<done>::yes(done());
}

task<answer<done>> voter::force_release(io& i, storage::break_request what, limit l) {
  if (what.fence > static_cast<std::uint64_t>(largest_number)) co_return answer<done>::no();  // no lease has it
  const keys k(session_.config.prefix, what.name);
  command c = call_of(scripts::take_away, 3, 6);
  c.add(k.lock).add(k.queue).add(k.broken).add(session_.inboxes).add(sixteen(what.id.high, what.id.low));
  c.add(static_cast<std::int64_t>(what.fence));
  c.add(what.owner ? sixteen(what.owner->high, what.owner->low) : std::string());
  c.add(storage::who_we_are()).add(what.reason);
  reply r = co_await session_.run(i, scripts::take_away, c, std::move(l));
  if (auto why = no_number<done>(r, "take_away", session_.config.prefix)) co_return std::move(*why);
  if (std::get<value>(r).number == 0) co_return answer<done>::no();
  co_return answer<done>::yes(done());
}

task<answer<std::string>> voter::identity(io& i, limit l) {
  command info(2);
  info.add("INFO").add("server");
  reply r = co_await session_.server->call(i, info, std::move(l));
  if (auto* const why = std::get_if<storage::failure>(&r)) co_return answer<std::string>::unknown(std::move(*why));
  const server_info is = server_info::of_info(std::get<value>(r).text);  // an error has no such lines
  co_return answer<std::string>::yes(std::string(is.text("run_id")));
}

std::unique_ptr<storage::watching> voter::watch(const std::string& name, runtime::signal& who) {
  return std::make_unique<lock_watching>(session_.cell_watchers, lock_key(session_.config.prefix, name), who);
}

std::string voter::where() const { return session_.config.where(); }

task<reply> voter::run_of_age(io& i, const script& s, const command& c, limit l) {
  if (!rules_.young_ones_vote && !seeded(bug::young_servers_vote)) {
    std::optional<storage::failure> too_young = co_await come_of_age(i, l);
    if (too_young) co_return std::move(*too_young);
  }
  const std::uint64_t line = session_.server->connection_number();
  reply r = co_await session_.run(i, s, c, l);
  const bool same = rules_.young_ones_vote || session_.server->connection_number() == line;
  if (!same) co_return storage::failure(errc::unreachable, "the connection broke (" + where() + ")");
  co_return r;
}

/// Asks once on each connection, because a restart of the server closes them all. Returns why the server may not vote.
task<std::optional<storage::failure>> voter::come_of_age(io& i, limit l) {
  std::optional<storage::failure> down = co_await session_.server->listen(i, any_key, l);
  if (down) co_return down;
  const std::uint64_t line = session_.server->connection_number();
  if (line == 0 || line != known_) {
    command info(3);
    info.add("INFO").add("server").add("persistence");
    reply r = co_await session_.server->call(i, info, l);
    if (auto why = failed<done>(r, session_.config.prefix)) co_return std::move(why->why());
    const server_info is = server_info::of_info(std::get<value>(r).text);
    const std::optional<std::int64_t> up = is.number("uptime_in_seconds");
    if (!up || *up < 0) co_return malformed_reply("INFO");
    const milliseconds age = std::chrono::seconds(std::min<std::int64_t>(*up, 1'000'000));
    instant of_age = later(i.now(), std::max<span>(span(rules_.max_ttl) + up_to_a_second - age, 0ms));
    if (of_age > i.now() && is.number("aof_enabled") == 1) {
      const bool durable = co_await writes_at_once(i, l);
      if (durable) of_age = i.now();
    }
    if (session_.server->connection_number() != line || line == 0) {
      co_return storage::failure(errc::unreachable, "the connection broke (" + where() + ")");
    }
    known_ = line;
    of_age_ = of_age;
  }
  const instant now = i.now();
  if (now >= of_age_) co_return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::seconds>(of_age_ - now);
  co_return storage::failure(
      errc::not_ready, "it was started a short time ago, may have lost locks, and votes in " +
                           std::to_string(left.count()) +
                           " s (young_nodes=vote in the URL: at once, for a first start; so does appendfsync always)");
}

/// Returns false if the user is not permitted to ask.
task<bool> voter::writes_at_once(io& i, limit l) {
  command config(3);
  config.add("CONFIG").add("GET").add("appendfsync");
  const reply r = co_await session_.server->call(i, config, l);
  const value* const v = std::get_if<value>(&r);
  co_return v != nullptr && !v->is(value::kind::error) && server_info::of_config(*v).text("appendfsync") == "always";
}

}  // namespace holdfast::redis
