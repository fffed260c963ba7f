// The administrative calls of the client: inspect, list, revoke and break.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "redis/lock/client.hpp"
#include "redis/lock/list_position.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/slots.hpp"
#include "storage/self.hpp"

namespace holdfast::redis {

namespace {

using runtime::instant;
using runtime::io;
using runtime::task;
using storage::answer;
using storage::done;

/// The server does nothing else during a step, so each is small enough to take a fraction of a millisecond.
constexpr std::int64_t keys_in_a_step = 128;
constexpr std::size_t names_in_a_step = 16;
/// A page ends after this many steps, even if few keys were locks.
constexpr int steps_of_a_page = 256;

/// Without a prefix, a key with the name of a lock can hold anything.
bool is_in_use(const state& is, bool prefixed) {
  if (is.waiting != 0) return true;
  return is.holding != 0 && (prefixed || !is.holders.front().foreign);
}

}  // namespace

task<answer<client::views>> client::look_at(io& i, const std::vector<std::string>& names, std::size_t holders,
                                            std::size_t waiters, records& of_clients, limit l) {
  command c = call_of(scripts::inspect, 6 * names.size(), 2);
  for (const std::string& each : names) {
    const keys k(session_.config.prefix, each);
    c.add(k.lock).add(k.queue).add(k.fence).add(k.holders).add(k.asked).add(k.broken);
  }
  c.add(static_cast<std::int64_t>(holders)).add(static_cast<std::int64_t>(waiters));
  reply r = co_await session_.run(i, scripts::inspect, c, l);
  if (auto why = failed<views>(r, session_.config.prefix)) co_return std::move(*why);
  views all;
  std::size_t inboxes = 0;
  for (const value& each : std::get<value>(r).items) {
    std::optional<inspection> seen = inspection::of(each);
    if (seen) {
      inboxes += seen->inboxes.size();
      all.push_back(answer<inspection>::yes(std::move(*seen)));
    } else if (each.is(value::kind::error)) {
      all.push_back(answer<inspection>::unknown(meaning_of(each.text, session_.config.prefix)));
    } else {
      all.push_back(answer<inspection>::unknown(malformed_reply("inspect")));
    }
  }
  if (all.size() != names.size()) co_return answer<views>::unknown(malformed_reply("inspect"));
  if (inboxes != 0) {
    std::vector<std::string> whose;
    for (answer<inspection>& each : all) {
      if (each.is_yes()) std::ranges::copy(each.value().inboxes, std::back_inserter(whose));
    }
    reply known = co_await records_of(i, whose, of_clients, l);
    if (auto why = failed<views>(known, session_.config.prefix)) co_return std::move(*why);
    std::size_t from = 0;
    for (answer<inspection>& each : all) {
      if (each.is_yes()) from = each.value().introduce(std::get<value>(known), from);
    }
  }
  co_return answer<views>::yes(std::move(all));
}

task<reply> client::records_of(io& i, const std::vector<std::string>& inboxes, records& known, limit l) {
  if (!session_.config.of_a_cluster()) {
    command all(1 + inboxes.size());
    all.add("MGET");
    for (const std::string& inbox : inboxes) all.add(client_record(session_.config.prefix, inbox));
    reply got = co_await session_.server->call(i, all, l);
    co_return got;
  }
  // Each record lies in another slot, but most locks of a page belong to few clients. If the shard of a record does not
  // reply, the lock is listed without its client.
  value all;
  all.what = value::kind::list;
  for (const std::string& inbox : inboxes) {
    command one(2);
    one.add("GET").key_follows().add(client_record(session_.config.prefix, inbox));
    const storage::shard at = session_.server->shard_of(slot_of(one.key()));
    if (!known.of.contains(inbox) && !known.silent.contains(at)) {
      reply got = co_await session_.server->call(i, one, l);
      const auto* const why = std::get_if<storage::failure>(&got);
      value* const said = std::get_if<value>(&got);
      const bool refused = why != nullptr ? why->permanent() : said->is(value::kind::error);
      if (refused) co_return got;
      if (said != nullptr) known.of.emplace(inbox, std::move(*said));
      if (why != nullptr) known.silent.insert(at);
    }
    const auto record = known.of.find(inbox);
    all.items.push_back(record == known.of.end() ? value() : record->second);
  }
  co_return all;
}

task<answer<state>> client::inspect(io& i, std::string name, limit l) {
  if (!keys::may_be(session_.config.prefix, name)) co_return answer<state>::unknown(keys::refused());
  const std::vector<std::string> names(1, name);
  records of_clients;
  answer<views> all = co_await look_at(i, names, state::most_listed, state::most_waiters_listed, of_clients, l);
  if (all.is_unknown()) co_return answer<state>::unknown(all.why());
  answer<inspection>& seen = all.value().front();
  if (seen.is_unknown()) co_return answer<state>::unknown(seen.why());
  co_return answer<state>::yes(std::move(seen.value().is));
}

task<answer<client::found>> client::search(io& i, transport& part, std::string prefix, std::string cursor, instant end,
                                           limit l) {
  found some{.names = {}, .cursor = std::move(cursor)};
  const std::string pattern = pattern_of_locks(session_.config.prefix, prefix);
  const bool prefixed = !session_.config.prefix.empty();
  do {
    command c(prefixed ? 6 : 8);
    c.add("SCAN").add(some.cursor).add("MATCH").add(pattern).add("COUNT").add(keys_in_a_step);
    if (!prefixed) c.add("TYPE").add("string");
    reply r = co_await part.call(i, c, l);
    if (auto why = failed<found>(r, session_.config.prefix)) co_return std::move(*why);
    const value& v = std::get<value>(r);
    const bool good = v.is(value::kind::list) && v.items.size() == 2 && v.items[1].is(value::kind::list) &&
                      is_cursor(v.items[0].text);
    if (!good) co_return answer<found>::unknown(malformed_reply("SCAN"));
    for (const value& key : v.items[1].items) {
      std::optional<std::string> name = name_in(session_.config.prefix, key.text);
      if (name && name->starts_with(prefix)) some.names.insert(std::move(*name));
    }
    some.cursor = v.items[0].text;
    ++some.steps;
  } while (some.cursor != "0" && some.names.size() < names_in_a_step && some.steps < steps_of_a_page && i.now() < end);
  co_return answer<found>::yes(std::move(some));
}

/// Returns the locks among them that are in use.
task<answer<std::vector<listing::entry>>> client::look_through(io& i, std::set<std::string> names, records& of_clients,
                                                               limit l) {
  using entries = std::vector<listing::entry>;
  entries in_use;
  while (!names.empty()) {
    std::vector<std::string> some;
    const std::size_t in_a_step =
        session_.config.of_a_cluster() ? 1 : names_in_a_step;  // a script can only access one slot
    while (!names.empty() && some.size() < in_a_step) {
      some.push_back(std::move(names.extract(names.begin()).value()));
    }
    answer<views> all = co_await look_at(i, some, listing::most_holders, 0, of_clients, l);
    if (all.is_unknown()) co_return answer<entries>::unknown(all.why());
    for (std::size_t n = 0; n < some.size(); ++n) {
      answer<inspection>& seen = all.value()[n];
      if (!seen.is_yes() || !is_in_use(seen.value().is, !session_.config.prefix.empty())) continue;
      in_use.push_back({std::move(some[n]), std::move(seen.value().is)});
    }
  }
  co_return answer<entries>::yes(std::move(in_use));
}

/// Adds the locks at this position to the page. Returns the number of SCAN calls.
task<answer<int>> client::list_some(io& i, const std::string& prefix, list_position& from, listing_page& page,
                                    instant end, limit l) {
  const std::shared_ptr<transport> part = session_.server->part(from.part());
  if (!part) {
    co_return answer<int>::unknown(storage::failure(errc::not_ready, "it has left the cluster"));
  }
  answer<found> here = co_await search(i, *part, prefix, from.cursor(), end, l);
  if (here.is_unknown()) co_return answer<int>::unknown(here.why());
  std::set<std::string>& names = here.value().names;
  std::erase_if(names, [&](const std::string& name) { return page.seen.contains(name); });
  const std::set<std::string> new_ones = names;
  answer<std::vector<listing::entry>> more = co_await look_through(i, std::move(names), page.of_clients, l);
  if (more.is_unknown()) co_return answer<int>::unknown(more.why());
  page.seen.insert(new_ones.begin(), new_ones.end());
  std::ranges::move(more.value(), std::back_inserter(page.is.names));
  from.go_to(here.value().cursor);
  co_return answer<int>::yes(here.value().steps);
}

// Over a slow connection a page ends when half of its time has passed, and the next one continues there. A part that
// does not reply comes last. If it does not reply on a page of its own either, the call fails at once: all others are
// listed, and the caller can continue from there later.
task<answer<listing>> client::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  const instant began = i.now();
  const instant end = began + (std::max(l.at(), began) - began) / 2;
  answer<std::vector<std::string>> parts = co_await session_.server->parts(i, l);
  if (parts.is_unknown()) co_return answer<listing>::unknown(parts.why());
  std::optional<list_position> from = list_position::read(after, parts.value());
  if (!from) {
    co_return answer<listing>::unknown(storage::failure(errc::bad_option, "no page has said to go on from there"));
  }
  listing_page page;
  for (int steps = 0; steps < steps_of_a_page && page.seen.size() < most && !from->is_over();) {
    const std::string where = from->part();
    const bool is_last_page = from->others_are_listed();
    if (is_last_page && steps > 0) break;
    answer<int> here = co_await list_some(i, prefix, *from, page, end, l);
    if (here.is_yes()) steps += here.value();
    const bool comes_later = here.is_unknown() && !here.why().permanent() && from->put_off();
    if (here.is_unknown() && !comes_later && steps == 0) {
      here.why().left_to_caller = is_last_page;
      if (!where.empty()) here.why().text = "the locks at " + where + " are not listed: " + here.why().text;
      co_return answer<listing>::unknown(here.why());
    }
    if ((here.is_unknown() && !comes_later) || i.now() >= end) break;
  }
  page.is.next = from->write();
  co_return answer<listing>::yes(std::move(page.is));
}

task<answer<done>> client::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  if (!keys::may_be(session_.config.prefix, name)) co_return answer<done>::unknown(keys::refused());
  if (fence > static_cast<std::uint64_t>(largest_number)) co_return answer<done>::no();  // no lease has it
  const keys k(session_.config.prefix, name);
  std::string bookmark;
  for (;;) {
    command c = call_of(scripts::revoke, 4, 5);
    c.add(k.lock).add(k.fence).add(k.holders).add(k.asked);
    c.add(session_.inboxes_of(k.lock))
        .add(static_cast<std::int64_t>(fence))
        .add(reason)
        .add(storage::who_we_are())
        .add(bookmark);
    reply r = co_await session_.run(i, scripts::revoke, c, l);
    const value* const v = std::get_if<value>(&r);
    if (v != nullptr && v->is(value::kind::text)) {
      bookmark = v->text;
      continue;
    }
    if (auto why = no_number<done>(r, "revoke", session_.config.prefix, -1)) co_return std::move(*why);
    const std::int64_t did = std::get<value>(r).number;
    const std::string another = "another library holds it, and cannot be asked";
    if (did > 0 || !bookmark.empty()) co_return answer<done>::yes(done());  // some were asked, the others have left
    if (did == 0) co_return answer<done>::no();
    co_return answer<done>::unknown(storage::failure(errc::foreign, another));
  }
}

task<answer<done>> client::break_lock(io& i, storage::break_request what, limit l) {
  if (!keys::may_be(session_.config.prefix, what.name)) co_return answer<done>::unknown(keys::refused());
  if (what.fence > static_cast<std::uint64_t>(largest_number)) co_return answer<done>::no();  // no lease has it
  const keys k(session_.config.prefix, what.name);
  const std::string id = sixteen(what.id.high, what.id.low);
  const std::string claim = what.owner ? sixteen(what.owner->high, what.owner->low) : std::string();
  command c = call_of(scripts::break_lock, 5, 6);
  c.add(k.lock).add(k.queue).add(k.fence).add(k.holders).add(k.broken);
  c.add(session_.inboxes_of(k.lock)).add(id).add(static_cast<std::int64_t>(what.fence)).add(claim);
  c.add(storage::who_we_are()).add(what.reason);
  for (bool took = false;; took = true) {
    reply r = co_await session_.run(i, scripts::break_lock, c, l);
    if (auto why = no_number<done>(r, "break_lock", session_.config.prefix, -1)) co_return std::move(*why);
    const std::int64_t did = std::get<value>(r).number;
    const std::string another = "another library holds it, and it is left alone";
    if (did <= 0 && took) co_return answer<done>::yes(done());  // some leases were broken, the others have ended
    if (did < 0) co_return answer<done>::unknown(storage::failure(errc::foreign, another));
    if (did == 0) co_return answer<done>::no();
    if ((did & 4) == 0) co_return answer<done>::yes(done());
  }
}

}  // namespace holdfast::redis
