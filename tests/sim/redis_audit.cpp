#include "sim/redis_audit.hpp"

#include <algorithm>
#include <limits>

#include "redis/owner.hpp"

namespace holdfast::sim {

using redis::value;

namespace {

/// The part of an owner's text that is the claim's own.
std::string claim_in(const std::string& owner) { return owner.substr(17, 16); }

bool there(const std::vector<std::string>& line, const std::string& who) {
  return std::find(line.begin(), line.end(), who) != line.end();
}

bool stopped_at_its_bound(const redis_step& s, const value& reply) {
  return s.what == asked::release ? (reply.number & 4) != 0 : reply.items.size() == 5 && reply.items[4].text.empty();
}

}  // namespace

redis_audit::view redis_audit::look(const redis_step& s) const {
  view v{eyes_.keys.text_at(s.lock(), eyes_.now()), {}};
  if (s.keys.size() > 1) v.line = eyes_.keys.members_of(s.keys[1], eyes_.now());
  return v;
}

bool redis_audit::lives(const std::string& owner) const { return eyes_.listens(owner.substr(0, 16)); }

void redis_audit::before(const redis_step& s) { before_ = look(s); }

void redis_audit::after(const redis_step& s, const value& reply) {
  const view now = look(s);
  check_who_changed_it(s, now);
  if (s.what != asked::renew) check_order(s, now, reply);
  if (s.what == asked::release) ++releases_[s.owner()];
  note_places(s, now, reply);
  note_answer(s, now, reply);
}

/// I6: what is held is changed for its owner only, and ended by its release only. A renewal never creates.
void redis_audit::check_who_changed_it(const redis_step& s, const view& now) {
  const std::optional<redis_keys::cell>& was = before_.lock;
  if (!was) {
    if (s.what == asked::renew && now.lock) world_.violate("I6: a renewal has made a lock");
    return;
  }
  const bool owners = was->value == s.owner();
  if (owners && s.what == asked::release) return;
  if (!now.lock || now.lock->value != was->value) {
    world_.violate("I6: a lock was taken from its holder");
  } else if (now.lock->ends != was->ends && !owners) {
    world_.violate("I6: a lease was changed by somebody else");
  } else if (now.lock->ends < was->ends) {
    world_.violate("I6: a lease was shortened");
  }
}

/// Before the script: the place that it had; of one who has come just now, that of the ticket which it shows.
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

/// I11: a lock that gets free goes to the first of those who wait and can be told; it is not free while they wait.
void redis_audit::check_order(const redis_step& s, const view& now, const value& reply) {
  const bool changed_hands = now.lock && (!before_.lock || before_.lock->value != now.lock->value);
  if (!now.lock && !stopped_at_its_bound(s, reply)) {
    for (const std::string& waiter : now.line) {
      if (lives(waiter)) world_.violate("I11: a lock is free though somebody waits for it");
    }
  }
  if (!changed_hands) return;
  const std::string& next = now.lock->value;
  if (next != s.owner() && !lives(next)) world_.violate("I11: a lock was handed to one who hears nothing");
  if (!in_order_) return;
  for (const std::string& waiter : before_.line) {
    const bool waits = waiter != next && waiter != s.owner() && lives(waiter);
    if (waits && place_of(waiter, s) < place_of(next, s)) world_.violate("I11: somebody was overtaken in the queue");
  }
}

/// Who shows its ticket has the place that it got with it, even if it was taken for dead meanwhile.
void redis_audit::note_places(const redis_step& s, const view& now, const value& reply) {
  if (s.what != asked::poll || there(before_.line, s.owner()) || !there(now.line, s.owner())) return;
  const std::string& shown = s.args.at(3);
  const std::string ticket = shown.empty() ? std::to_string(reply.items.at(1).number) : shown;
  const auto [at, is_new] = tickets_.try_emplace({s.owner(), ticket}, last_place_ + 1);
  if (is_new) ++last_place_;
  places_[s.owner()] = at->second;
}

/// I12: an answer is the server's own, each once; and who holds is told so when it asks.
void redis_audit::note_answer(const redis_step& s, const view& now, const value& reply) {
  if (reply.is(value::kind::error)) return;
  const bool held_it = before_.lock && before_.lock->value == s.owner();
  bool yes = reply.is(value::kind::integer);
  if (s.what == asked::renew) yes = reply.number == 1;
  if (s.what == asked::release) yes = (reply.number & 3) != 0;
  if (held_it && !yes) world_.violate("I12: the holder of a lock was told that it is not");
  ++answers_[{claim_in(s.owner()), s.what, yes}];
  const bool handed =
      now.lock && now.lock->value != s.owner() && (!before_.lock || before_.lock->value != now.lock->value);
  if (handed) ++answers_[{claim_in(now.lock->value), asked::poll, true}];  // by a message
}

long redis_audit::releases_of(const std::string& owner) const {
  const auto at = releases_.find(owner);
  return at == releases_.end() ? 0 : at->second;
}

void redis_audit::heard(const seam::owner_id& owner, asked what, bool yes) {
  if (--answers_[{redis::sixteen(owner.high, owner.low), what, yes}] < 0) {
    world_.violate("I12: a client heard what the server has not said");
  }
}

}  // namespace holdfast::sim
