#include "redis/lock/multi_claim.hpp"

#include <algorithm>
#include <utility>

#include "redis/lock/claim.hpp"
#include "redis/lock/session.hpp"
#include "redis/protocol/script_call.hpp"

namespace holdfast::redis {

using runtime::instant;
using runtime::io;
using runtime::task;
using storage::answer;
using storage::done;
using storage::milliseconds;

multi_claim::multi_claim(storage::backend& store, session& s, std::vector<storage::claim_spec> specs)
    : bundle(store, std::move(specs)), session_(s) {}

redis::claim& multi_claim::at(part& p) { return static_cast<redis::claim&>(*p.place); }

task<answer<done>> multi_claim::take_all(io& i, limit l) {
  const instant sent = i.now();
  const milliseconds ttl = parts().front().spec.ttl;
  command c = call_of(scripts::acquire_all, 3 * parts().size(), 1 + parts().size());
  for (part& p : parts()) {
    if (at(p).has_bad_name()) co_return answer<done>::no();  // its own poll reports why
    const keys k = at(p).all_keys();
    c.add(k.lock).add(k.queue).add(k.fence);
  }
  c.add(ttl.count());
  for (part& p : parts()) c.add(at(p).owner());
  std::optional<storage::failure> missing;
  reply r = co_await session_.run_grant(i, scripts::acquire_all, c, std::move(l), &abandoned_, missing);
  if (auto why = failed<done>(r, session_.config.prefix)) co_return std::move(*why);
  const value& v = std::get<value>(r);
  if (v.is(value::kind::integer)) co_return answer<done>::no();
  const bool good = v.is(value::kind::list) && v.items.size() == parts().size() &&
                    std::all_of(v.items.begin(), v.items.end(), [](const value& one) { return is_number(one, 1); });
  if (!good) co_return answer<done>::unknown(malformed_reply("acquire_all"));
  if (missing) co_return answer<done>::unknown(std::move(*missing));
  for (std::size_t n = 0; n < parts().size(); ++n) {
    parts()[n].fence = static_cast<std::uint64_t>(v.items[n].number);
    parts()[n].deadline = storage::deadline_after(sent, ttl);
  }
  co_return answer<done>::yes(done());
}

task<answer<instant>> multi_claim::renew_first(io& i, std::size_t some, milliseconds ttl, limit l) {
  const instant sent = i.now();
  command c = call_of(scripts::renew_all, 3 * some, 2 + 2 * some);
  for (std::size_t n = 0; n < some; ++n) {
    const keys k = at(parts()[n]).all_keys();
    c.add(k.lock).add(k.asked).add(k.fence);
  }
  c.add(ttl.count()).add(upkeep_.is_due(sent, ttl) ? "day" : "");
  for (std::size_t n = 0; n < some; ++n) {
    c.add(at(parts()[n]).owner()).add(static_cast<std::int64_t>(parts()[n].fence));
  }
  reply r = co_await session_.run(i, scripts::renew_all, c, std::move(l));
  if (!take_revoke_requests(r)) {
    if (auto why = no_number<instant>(r, "renew_all", session_.config.prefix)) co_return std::move(*why);
    if (std::get<value>(r).number == 0) co_return answer<instant>::no();
  }
  const instant deadline = storage::deadline_after(sent, ttl);
  for (std::size_t n = 0; n < some; ++n) parts()[n].deadline = std::max(parts()[n].deadline, deadline);
  co_return answer<instant>::yes(deadline);
}

task<answer<done>> multi_claim::release_first(io& i, std::size_t some, limit l) {
  std::vector<part*> left;
  for (std::size_t n = 0; n < some; ++n) {
    if (!parts()[n].gone) left.push_back(&parts()[n]);
  }
  if (left.empty()) co_return answer<done>::yes(done());
  command c = call_of(scripts::release_all, 4 * left.size(), 1 + left.size());
  for (part* p : left) {
    const keys k = at(*p).all_keys();
    add_keys(c, k);
  }
  c.add(session_.inboxes_of(at(*left.front()).all_keys().lock));
  for (part* p : left) c.add(at(*p).owner());
  if (abandoned_) session_.server->follow(*abandoned_, load_of(scripts::release_all).then(c));
  abandoned_.reset();
  for (part* p : left) at(*p).undo_abandoned();
  std::optional<std::int64_t> first;
  for (;;) {
    reply r = co_await session_.run(i, scripts::release_all, c, l);
    if (auto why = no_number<done>(r, "release_all", session_.config.prefix)) {
      if (first) break;
      session_.leave_to_server(i, scripts::release_all, c, l);
      co_return std::move(*why);
    }
    const std::int64_t did = std::get<value>(r).number;
    if (!first) first = did & 3;
    if ((did & 4) == 0) break;
  }
  for (part* p : left) p->gone = true;
  co_return *first == 0 ? answer<done>::no() : answer<done>::yes(done());
}

bool multi_claim::take_revoke_requests(const reply& r) {
  const value* const v = std::get_if<value>(&r);
  if (v == nullptr || !v->is(value::kind::list) || v->items.empty() || v->items.size() % 2 != 0) return false;
  for (std::size_t n = 0; n < v->items.size(); n += 2) {
    const value& which = v->items[n];
    if (!is_number(which, 1) || static_cast<std::size_t>(which.number) > parts().size()) return false;
    redis::claim& meant = at(parts()[static_cast<std::size_t>(which.number) - 1]);
    const reply one = v->items[n + 1];
    if (!meant.take_revoke_request(meant.owner(), one)) return false;
  }
  return true;
}

}  // namespace holdfast::redis
