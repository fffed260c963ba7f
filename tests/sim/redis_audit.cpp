#include "sim/redis_audit.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"

namespace holdfast::sim {

using redis::value;

namespace {

/// Returns the part of an owner's text that identifies the claim.
std::string claim_in(const std::string& owner) { return owner.substr(17, 16); }

bool there(const std::vector<std::string>& line, const std::string& who) {
  return std::find(line.begin(), line.end(), who) != line.end();
}

bool stopped_at_its_bound(const redis_step& s, const value& reply) {
  return s.what == asked::poll ? reply.items.size() == 6 && reply.items[4].text.empty() : (reply.number & 4) != 0;
}

bool reads(const std::string& owner) { return owner.size() > 33 && owner[33] == '+'; }

/// The number of permits that the owner requests or holds.
std::uint64_t wants(const std::string& owner) {
  return owner.size() > 34 && owner[33] == ':' ? std::strtoull(owner.c_str() + 34, nullptr, 10) : 0;
}

}  // namespace

lock_state::lock_state(const std::string& value) {
  unsigned long long all = 0, taken = 0, last = 0;
  if (value.starts_with("+") && value.find_first_not_of("0123456789", 1) == std::string::npos) is = form::readers;
  if (std::sscanf(value.c_str(), "#%llu:%llu:%llu", &all, &taken, &last) == 3) is = form::permits;
  size = all;
  used = taken;
}

redis_audit::view redis_audit::look(const redis_step& s) const {
  const wall_time now = eyes_.now();
  view v{.lock = eyes_.keys.text_at(s.lock(), now), .line = eyes_.keys.members_of(s.queue(), now)};
  if (const auto last = eyes_.keys.text_at(s.lock() + ":f", now)) v.fence = std::stoull(last->value);
  if (!v.lock) return v;
  if (lock_state(v.lock->value).is != lock_state::form::owner) {
    v.holders = eyes_.keys.scores_of(s.holders(), now);
    const auto says = std::ranges::find_if(v.holders, [](const auto& h) { return h.first.starts_with('@'); });
    if (says != v.holders.end()) {
      v.confirmed = says->first.substr(1);
      v.holders.erase(says);
    }
  } else {
    v.holders[v.lock->value] = v.lock->ends.value_or(std::numeric_limits<std::int64_t>::max());
  }
  return v;
}

bool redis_audit::lives(const std::string& owner) const { return eyes_.listens(owner.substr(0, 16)); }

/// Returns true if the owner's ttl has not expired. A key lives through its last millisecond; a reader or a permit does
/// not.
bool redis_audit::is_in(const view& v, const std::string& owner) const {
  const auto at = v.holders.find(owner);
  return at != v.holders.end() && (v.lock->value == owner || at->second > eyes_.now().ms());
}

/// Returns the owners that this step admitted.
std::vector<std::string> redis_audit::let_in(const redis_step& s, const view& now) const {
  std::vector<std::string> found;
  for (const auto& [who, until] : now.holders) {
    const bool is_new = !before_.holders.contains(who) && (s.what != asked::downgrade || who != s.owner_then());
    if (is_new) found.push_back(who);
  }
  return found;
}

void redis_audit::before(const std::vector<redis_step>& steps) {
  all_before_.clear();
  for (const redis_step& s : steps) all_before_.push_back(look(s));
}

void redis_audit::after(const std::vector<redis_step>& steps, const value& reply) {
  // A client would treat this as a server that is not ready and retry forever.
  if (reply.is(value::kind::error) && reply.text.starts_with("ERR"))
    world_.violate("I12: a script fails: " + reply.text);
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const redis_step& s = steps[n];
    before_ = all_before_[n];
    const view now = look(s);
    check_who_changed_it(s, now);
    if (s.what == asked::revoke) return note_asked(reply);
    if (s.what == asked::break_lock) check_break(s, now, reply);
    check_form(now);
    check_confirmed(s, now, reply);
    check_order(s, now);
    note_grants(s, now);
    tell_grants(s, now, reply);
    if (s.what == asked::release) ++releases_[s.owner()];
    if (s.of_several) continue;  // the answer is for all locks together
    if (handed_on_ && s.what != asked::renew && !reply.is(value::kind::error)) check_idle(s, now, reply);
    if (s.what == asked::break_lock) continue;
    note_places(s, now, reply);
    note_answer(s, now, reply);
  }
}

/// I6: a lease changes only for its owner, and ends only by its release. A renewal never creates one.
void redis_audit::check_who_changed_it(const redis_step& s, const view& now) {
  if (s.what == asked::renew && !let_in(s, now).empty()) world_.violate("I6: a renewal has made a lock");
  for (const auto& [who, until] : before_.holders) {
    const bool owners = who == s.owner() || (s.what == asked::downgrade && who == s.owner_then());
    if (!is_in(before_, who) || (owners && s.what == asked::release)) continue;
    if (s.what == asked::break_lock && is_meant(s, who)) continue;
    auto then = now.holders.find(owners ? s.owner_then() : who);
    if (then == now.holders.end()) then = now.holders.find(who);  // it was not downgraded
    if (then == now.holders.end()) {
      world_.violate("I6: a lock was taken from its holder");
    } else if (then->second != until && !owners) {
      world_.violate("I6: a lease was changed by another client");
    } else if (then->second < until) {
      world_.violate("I6: a lease was shortened");
    }
  }
}

/// Returns true if a break applies to this holder.
bool redis_audit::is_meant(const redis_step& s, const std::string& who) const {
  const std::string &said = s.args.at(2), &only = s.args.at(3);
  if (!only.empty() && claim_in(who) != only) return false;
  const lock_state::form is = lock_state(before_.lock->value).is;
  const std::uint64_t fence = std::stoull(said);
  if (fence == 0 || is == lock_state::form::permits) return !only.empty();
  if (is == lock_state::form::readers) return before_.lock->value == "+" + said;
  return fence <= before_.fence && fence + redis::fences_in_a_block > before_.fence;
}

/// I6: a holder to which the break applies has lost the lock. I12: the caller gets a yes, also when it repeats the
/// call.
void redis_audit::check_break(const redis_step& s, const view& now, const value& reply) {
  if (!reply.is(value::kind::integer) || reply.number < 0) return;
  std::string& last = last_break_[s.lock()];
  const bool again = last == s.args.at(1);
  if (again && reply.number == 0) world_.violate("I12: a client that broke a lock got the reply that it was not held");
  if (again) return;
  for (const auto& [who, until] : before_.holders) {
    if (!is_in(before_, who) || !is_meant(s, who)) continue;
    if (reply.number == 0) world_.violate("I12: a lock could not be broken by its fence");
    if (now.holders.contains(who)) world_.violate("I6: a lock was broken, and its holder is still in");
    asked_to_let_go_.insert(claim_in(who));
  }
  if (reply.number > 0) last = s.args.at(1);
}

/// I6: the lock's key agrees with the list of its readers or permit holders.
void redis_audit::check_form(const view& now) {
  if (!now.lock) return;
  const lock_state state(now.lock->value);
  if (state.is == lock_state::form::readers) {
    std::int64_t last = 0;
    for (const auto& [who, until] : now.holders) last = std::max(last, until);
    if (now.lock->ends != last) world_.violate("I6: a lock does not end with the last of its readers");
  }
  if (state.is == lock_state::form::permits) {
    std::uint64_t taken = 0;
    for (const auto& [who, until] : now.holders) taken += wants(who);
    if (taken != state.used) world_.violate("I6: permits were counted wrong");
  }
}

/// I11: a poll or renewal of an admitted reader confirms all admitted readers, so that others may join them.
void redis_audit::check_confirmed(const redis_step& s, const view& now, const value& reply) {
  const bool renewed = s.what == asked::renew && (reply.number == 1 || reply.is(value::kind::text));
  if (s.of != '+' || (s.what != asked::poll && !renewed) || !is_in(before_, s.owner())) return;
  if (now.confirmed == eyes_.history()) return;
  world_.violate("I11: other readers may not join the admitted ones");
}

/// The position that the claim had before the script ran; for a new claim, that of the ticket that it shows.
std::uint64_t redis_audit::place_of(const std::string& who, const redis_step& s) const {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  if (!there(before_.line, who)) {
    const bool shows_ticket = who == s.owner() && s.what == asked::poll;
    const auto at = shows_ticket ? tickets_.find({who, s.args.at(3)}) : tickets_.end();
    return at == tickets_.end() ? last : at->second;
  }
  const auto at = places_.find(who);
  return at == places_.end() ? last : at->second;
}

/// I11: a lock that becomes free goes to the first waiter that can be notified.
void redis_audit::check_order(const redis_step& s, const view& now) {
  for (const std::string& next : let_in(s, now)) {
    if (next != s.owner() && !lives(next)) world_.violate("I11: a lock was granted to a client that does not listen");
    if (!in_order_) continue;
    for (const std::string& waiter : before_.line) {
      const bool waits = !now.holders.contains(waiter) && waiter != s.owner() && lives(waiter);
      if (waits && place_of(waiter, s) < place_of(next, s)) world_.violate("I11: a waiter was overtaken in the queue");
    }
  }
}

/// I11: a lock is not free while a client waits for it.
void redis_audit::check_idle(const redis_step& s, const view& now, const value& reply) {
  const bool refused = (s.what == asked::downgrade || s.what == asked::break_lock) && reply.number <= 0;
  if (refused || stopped_at_its_bound(s, reply)) return;
  // A holder that polls again and a reader that leaves others behind do not look at the queue: only a death since the
  // last look can have changed it, and the waiters notice that.
  const bool looks_away = now.lock && (before_.holders.contains(s.owner()) && s.what != asked::downgrade);
  if (looks_away && (s.what == asked::poll || reads(s.owner()))) return;
  const auto first =
      std::find_if(now.line.begin(), now.line.end(), [&](const auto& who) { return lives(who) || who == s.owner(); });
  if (first != now.line.end() && has_room_for(*first, now)) {
    world_.violate("I11: a lock is free although a client waits for it");
  }
}

bool redis_audit::has_room_for(const std::string& waiter, const view& now) const {
  if (!now.lock) return true;
  const lock_state state(now.lock->value);
  if (state.is == lock_state::form::readers) return reads(waiter) && now.confirmed == eyes_.history();
  if (state.is == lock_state::form::owner) return false;
  std::uint64_t taken = wants(waiter);
  for (const auto& [who, until] : now.holders) taken += is_in(now, who) ? wants(who) : 0;
  return taken <= state.size;
}

/// A waiter that shows its ticket has the position of that ticket, even if the server took it for dead meanwhile.
void redis_audit::note_places(const redis_step& s, const view& now, const value& reply) {
  if (s.what != asked::poll || there(before_.line, s.owner()) || !there(now.line, s.owner())) return;
  const std::string& shown = s.args.at(3);
  const std::string ticket = shown.empty() ? std::to_string(reply.items.at(1).number) : shown;
  const auto [at, is_new] = tickets_.try_emplace({s.owner(), ticket}, last_place_ + 1);
  if (is_new) ++last_place_;
  places_[s.owner()] = at->second;
}

/// Counts the grants that the server sends in messages.
void redis_audit::note_grants(const redis_step& s, const view& now) {
  for (const std::string& who : let_in(s, now)) {
    if (who != s.owner()) ++answers_[{claim_in(who), asked::poll, true}];
  }
}

void redis_audit::tell_grants(const redis_step& s, const view& now, const value& reply) const {
  if (grants_ == nullptr || !leads_() || !now.lock) return;
  const std::string& held = now.lock->value;
  const lock_state::form is = lock_state(held).is;
  const bool is_new = !before_.lock || before_.lock->value != held;
  if (is == lock_state::form::readers && is_new && s.what != asked::downgrade) {
    grants_->granted(s.lock(), "readers", std::stoull(held.substr(1)));
  }
  if (is != lock_state::form::owner || held.size() < 34) return;
  if (is_new) grants_->granted(s.lock(), claim_in(held), now.fence - (redis::fences_in_a_block - 1));
  const bool yes = reply.is(value::kind::integer) ? (reply.number & 1) != 0 : !reply.is(value::kind::error);
  if (s.what == asked::renew && s.of == '-' && yes) grants_->renewed(s.lock(), claim_in(s.owner()));
}

/// I12: each answer of the server is delivered once, and a holder that polls or renews gets a yes.
void redis_audit::note_answer(const redis_step& s, const view& now, const value& reply) {
  if (reply.is(value::kind::error)) return;
  bool yes = reply.is(value::kind::integer);
  if (s.what == asked::renew || s.what == asked::downgrade) yes = (reply.number & 1) != 0;
  if (s.what == asked::renew && reply.is(value::kind::text)) yes = true;  // the reply carries a revoke request
  if (s.what == asked::release) yes = (reply.number & 3) != 0;
  // A renewal or a downgrade may meet a later grant of the same claim, by a poll that came later.
  bool of_before = s.what == asked::renew && s.of == '+' && before_.lock && before_.lock->value != "+" + s.args.at(2);
  const bool renews_writer = s.what == asked::renew && s.of == '-';
  if (s.what == asked::downgrade || (renews_writer && s.keys.size() == 3)) {
    const std::string& known = s.args.at(renews_writer ? 2 : 3);
    of_before = now.fence != 0 && !known.empty() && std::stoull(known) + redis::fences_in_a_block <= now.fence;
  }
  if (is_in(before_, s.owner()) && !yes && !of_before)
    world_.violate("I12: the holder of a lock got the reply that it is not");
  if (yes && s.what != asked::release && s.what != asked::resize) {
    const auto mine = now.holders.find(s.owner_then());
    const bool long_enough = mine != now.holders.end() && mine->second >= eyes_.now().ms() + std::stoll(s.args.at(1));
    if (!long_enough) world_.violate("I12: a client got a longer lease in the reply than on the server");
  }
  if (s.what != asked::resize) ++answers_[{claim_in(s.owner()), s.what, yes}];
}

void redis_audit::note_asked(const value& reply) {
  if (reply.number != 1) return;
  for (const auto& [who, until] : before_.holders) {
    if (is_in(before_, who)) asked_to_let_go_.insert(claim_in(who));
  }
}

void redis_audit::told_to_let_go(const storage::owner_id& owner) {
  if (asked_to_let_go_.contains(redis::sixteen(owner.high, owner.low))) return;
  world_.violate("I12: a holder got a revoke request that was not meant for it");
}

long redis_audit::releases_of(const std::string& owner) const {
  const auto at = releases_.find(owner);
  return at == releases_.end() ? 0 : at->second;
}

void redis_audit::heard(const storage::owner_id& owner, asked what, bool yes) {
  if (--answers_[{redis::sixteen(owner.high, owner.low), what, yes}] < 0) {
    world_.violate("I12: a client heard what the server has not said");
  }
}

}  // namespace holdfast::sim
