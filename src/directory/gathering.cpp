#include "directory/gathering.hpp"

#include "runtime/clock.hpp"

namespace holdfast::directory {

namespace {

std::int64_t end_of(milliseconds ttl) { return runtime::nanoseconds_of(boot_clock::now() + ttl); }

}  // namespace

gathering::gathering(places& rows, mint& m, const sessions& alive, const std::string& name, std::vector<summons>& told)
    : rows_(rows),
      mint_(m),
      sessions_(alive),
      name_(name),
      told_(told),
      before_(rows.find_sum(name)),
      all_(before_),
      nobody_waits_(!before_.has_row) {
  if (!before_.may_end) return;
  const std::int64_t now = runtime::nanoseconds_of(boot_clock::now());
  for (;;) {
    const std::optional<places::end> first = rows_.first_end(name_);
    if (!first || first->expires > now) return;
    rows_.remove_holder(name_, first->session, first->owner);
    give_back(first->part);
  }
}

bool gathering::holds(const entry& who) {
  if (before_.used == 0 && !before_.has_row) return false;
  return rows_.find_holder(name_, sessions_.own(), who.owner).has_value();
}

/// A ticket alone does not tell: when its owner was let in, the number may have gone to somebody else.
bool gathering::waits(const entry& who) {
  if (who.ticket == 0 || !before_.has_row) return false;
  const std::optional<places::waiter> there = rows_.waits_from(name_, who.ticket);
  return there && there->ticket == who.ticket && there->owner == who.owner;
}

std::optional<places::waiter> gathering::first_in_line() {
  while (!nobody_waits_) {
    std::optional<places::waiter> first = rows_.waits_from(name_, 1);
    if (first && sessions_.alive(first->session)) return first;
    if (first) rows_.remove_waiter(name_, first->ticket);
    nobody_waits_ = !first;
  }
  return std::nullopt;
}

void gathering::serve() {
  bool with_others = false;
  while (all_.used < all_.whole) {
    const std::optional<places::waiter> first = first_in_line();
    if (!first || !has_room_for(first->part)) break;
    with_others = first->part < all_.whole;
    let_in(*first);
  }
  // Whoever is first now watches the one that was before it, and has to watch all who hold.
  if (!with_others) return;
  if (const std::optional<places::waiter> next = first_in_line()) tell_to_look(*next);
}

void gathering::let_in(const places::waiter& who) {
  const std::int64_t expires = who.ttl == 0 ? for_ever : end_of(milliseconds(who.ttl));
  const std::uint64_t fence = fence_for(who.part);
  rows_.let_in(name_, who, fence, expires);
  told_.push_back({who.session, {.owner = who.owner, .fence = fence, .expires = expires}});
}

void gathering::tell_to_look(const places::waiter& who) { told_.push_back({who.session, {.owner = who.owner}}); }

/// One more is in. Readers have the fence of those whom they join.
std::uint64_t gathering::fence_for(std::uint32_t part) {
  const storage::share wants{part, all_.whole};
  const bool joins = wants == storage::share::reader() && all_.used != 0;
  if (!joins) all_.fence = mint_.next(fences_of(wants));
  all_.used += part;
  return all_.fence;
}

std::vector<session_id> gathering::living_holders(bool one) {
  for (;;) {
    std::vector<session_id> living;
    bool all_live = true;
    for (session_id s = rows_.next_holder(name_, 0); s != 0 && s != the_dead; s = rows_.next_holder(name_, s)) {
      if (sessions_.alive(s)) {
        living.push_back(s);
        if (one) return living;
      } else {
        forget_holders(s);
        all_live = false;
      }
    }
    if (all_live) return living;
    serve();  // others may hold now
  }
}

std::optional<std::uint64_t> gathering::admit(const entry& who, bool known) {
  if (known) {
    const std::optional<places::holder> mine = rows_.find_holder(name_, sessions_.own(), who.owner);
    if (!mine) return std::nullopt;
    if (who.fixed) rows_.extend(name_, sessions_.own(), who.owner, end_of(who.ttl));
    return mine->fence;
  }
  if (idle()) all_.whole = who.wants.whole;
  if (all_.whole != who.wants.whole || !has_room_for(who.wants.part) || somebody_waits()) return std::nullopt;
  return enter(who);
}

std::optional<std::uint64_t> gathering::barge(const entry& who) {
  if (idle()) all_.whole = who.wants.whole;
  if (all_.whole != who.wants.whole || !has_room_for(who.wants.part)) return std::nullopt;
  if (waits(who)) rows_.remove_waiter(name_, who.ticket);
  return enter(who);
}

std::uint64_t gathering::enter(const entry& who) {
  const std::uint64_t fence = fence_for(who.wants.part);
  rows_.add_holder(who, sessions_.own(), fence, who.fixed ? end_of(who.ttl) : for_ever);
  return fence;
}

void gathering::wait(entry& who) {
  who.ticket = rows_.add_waiter(who, sessions_.own());
  nobody_waits_ = false;
}

std::optional<session_id> gathering::predecessor(const entry& who) {
  for (;;) {
    const std::optional<places::predecessor> before = rows_.waits_before(name_, who.ticket);
    if (!before) return std::nullopt;
    if (sessions_.alive(before->session)) return before->session;
    rows_.remove_waiter(name_, before->ticket);
  }
}

bool gathering::downgrade(const entry& who, std::uint64_t fence, milliseconds ttl) {
  const std::optional<places::holder> mine = rows_.find_holder(name_, sessions_.own(), who.owner);
  if (!mine) return false;
  give_back(mine->part - 1);
  all_.fence = fence;
  rows_.downgrade(name_, sessions_.own(), who.owner, fence);
  rows_.extend(name_, sessions_.own(), who.owner, end_of(ttl));
  serve();
  return true;
}

void gathering::resize(std::uint32_t whole) {
  if (all_.whole == storage::share::lock) (void)living_holders(true);
  if (idle()) return;
  if (all_.whole == storage::share::lock) throw storage::disagreement(all_.whole, whole);
  all_.whole = whole;
  serve();
}

bool gathering::leave(const entry& who) {
  const std::optional<places::holder> held = rows_.find_holder(name_, sessions_.own(), who.owner);
  const bool waited = !held && waits(who);
  if (held) {
    rows_.remove_holder(name_, sessions_.own(), who.owner);
    give_back(held->part);
  }
  if (waited) rows_.remove_waiter(name_, who.ticket);
  if (held && who.barges) {  // it is free for whoever comes first
    if (const std::optional<places::waiter> first = first_in_line()) tell_to_look(*first);
    return true;
  }
  const std::optional<places::waiter> behind = waited ? rows_.waits_from(name_, who.ticket) : std::nullopt;
  serve();
  // It watched us; unless it is in by now, it has to watch somebody else.
  const std::optional<places::waiter> still = behind ? rows_.waits_from(name_, behind->ticket) : std::nullopt;
  if (still && still->owner == behind->owner) tell_to_look(*behind);
  return held || waited;
}

void gathering::take_from(const places::row& holder) {
  rows_.remove_holder(name_, holder.held, holder.owner);
  give_back(holder.part);
}

void gathering::forget(session_id who) {
  forget_holders(who);
  rows_.remove_waiters(name_, who);
}

void gathering::forget_holders(session_id who) {
  rows_.close_holders(name_, who, runtime::nanoseconds_of(boot_clock::now()));
  give_back(rows_.remove_holders(name_, who));
}

void gathering::save() {
  const bool one_has_it = all_.whole == storage::share::lock && all_.used == all_.whole && nobody_waits_;
  if (one_has_it || idle()) {
    if (before_.has_row) rows_.remove_sum(name_);
  } else if (!before_.has_row) {
    rows_.add_sum(name_, all_);
  } else if (all_ != before_) {
    rows_.change_sum(name_, all_);
  }
}

}  // namespace holdfast::directory
