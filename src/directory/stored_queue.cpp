#include "directory/stored_queue.hpp"

#include "runtime/clock.hpp"

namespace holdfast::directory {

namespace {

std::int64_t expiry_after(milliseconds ttl) { return runtime::nanoseconds_of(boot_clock::now() + ttl); }

}  // namespace

stored_queue::stored_queue(claim_rows& rows, fence_allocator& fences, const sessions& alive, const std::string& name,
                           std::vector<notification>& notifications)
    : rows_(rows),
      fences_(fences),
      sessions_(alive),
      name_(name),
      notifications_(notifications),
      before_(rows.find_sum(name)),
      all_(before_),
      no_waiters_(!before_.has_row) {
  if (!before_.may_expire) return;
  const std::int64_t now = runtime::nanoseconds_of(boot_clock::now());
  for (;;) {
    const std::optional<claim_rows::expiry> first = rows_.first_expiry(name_);
    if (!first || first->expires > now) return;
    rows_.remove_holder(name_, first->session, first->owner);
    subtract(first->part);
  }
}

bool stored_queue::holds(const entry& who) {
  if (before_.used == 0 && !before_.has_row) return false;
  return rows_.find_holder(name_, sessions_.own(), who.owner).has_value();
}

/// Compares the owner too: after a claim was admitted, another one may have its ticket.
bool stored_queue::waits(const entry& who) {
  if (who.ticket == 0 || !before_.has_row) return false;
  const std::optional<claim_rows::waiter> found = rows_.first_waiter(name_, who.ticket);
  return found && found->ticket == who.ticket && found->owner == who.owner;
}

std::optional<claim_rows::waiter> stored_queue::first_waiter() {
  while (!no_waiters_) {
    std::optional<claim_rows::waiter> first = rows_.first_waiter(name_);
    if (first && sessions_.alive(first->session)) return first;
    if (first) rows_.remove_waiter(name_, first->ticket);
    no_waiters_ = !first;
  }
  return std::nullopt;
}

void stored_queue::admit_waiters() {
  bool holds_beside_others = false;
  while (all_.used < all_.whole) {
    const std::optional<claim_rows::waiter> first = first_waiter();
    if (!first || !has_room_for(first->part)) break;
    holds_beside_others = first->part < all_.whole;
    admit(*first);
  }
  // The new first waiter has watched its predecessor only, and has to watch all holders now.
  if (!holds_beside_others) return;
  if (const std::optional<claim_rows::waiter> next = first_waiter()) ask_to_poll(*next);
}

void stored_queue::admit(const claim_rows::waiter& who) {
  const std::int64_t expires = who.ttl == 0 ? no_expiry : expiry_after(milliseconds(who.ttl));
  const std::uint64_t fence = add_part(who.part);
  rows_.admit(name_, who, fence, expires);
  notifications_.push_back({who.session, {.owner = who.owner, .fence = fence, .expires = expires}});
}

/// Counts another holder and returns its fence. Readers that join others get their fence.
std::uint64_t stored_queue::add_part(std::uint32_t part) {
  const storage::share wants{part, all_.whole};
  const bool joins = wants == storage::share::reader() && all_.used != 0;
  if (!joins) all_.fence = fences_.next(fences_of(wants));
  all_.used += part;
  return all_.fence;
}

std::vector<session_id> stored_queue::living_holders(bool one) {
  for (;;) {
    std::vector<session_id> living;
    bool all_live = true;
    for (session_id s = rows_.next_holder(name_, 0); s != 0 && s != delayed_session; s = rows_.next_holder(name_, s)) {
      if (sessions_.alive(s)) {
        living.push_back(s);
        if (one) return living;
      } else {
        remove_holders(s);
        all_live = false;
      }
    }
    if (all_live) return living;
    admit_waiters();  // adds holders
  }
}

std::optional<std::uint64_t> stored_queue::admit(const entry& who, bool known) {
  if (known) {
    const std::optional<claim_rows::holder> mine = rows_.find_holder(name_, sessions_.own(), who.owner);
    if (!mine) return std::nullopt;
    if (who.fixed) rows_.extend(name_, sessions_.own(), who.owner, expiry_after(who.ttl));
    return mine->fence;
  }
  if (idle()) all_.whole = who.wants.whole;
  if (all_.whole != who.wants.whole || !has_room_for(who.wants.part) || has_waiters()) return std::nullopt;
  return enter(who);
}

std::optional<std::uint64_t> stored_queue::barge(const entry& who) {
  if (idle()) all_.whole = who.wants.whole;
  if (all_.whole != who.wants.whole || !has_room_for(who.wants.part)) return std::nullopt;
  if (waits(who)) rows_.remove_waiter(name_, who.ticket);
  return enter(who);
}

std::uint64_t stored_queue::enter(const entry& who) {
  const std::uint64_t fence = add_part(who.wants.part);
  rows_.add_holder(who, sessions_.own(), fence, who.fixed ? expiry_after(who.ttl) : no_expiry);
  return fence;
}

void stored_queue::wait(entry& who) {
  who.ticket = rows_.add_waiter(who, sessions_.own());
  no_waiters_ = false;
}

std::optional<session_id> stored_queue::predecessor(const entry& who) {
  for (;;) {
    const std::optional<claim_rows::predecessor> before = rows_.last_waiter(name_, who.ticket);
    if (!before) return std::nullopt;
    if (sessions_.alive(before->session)) return before->session;
    rows_.remove_waiter(name_, before->ticket);
  }
}

bool stored_queue::downgrade(const entry& who, std::uint64_t fence, milliseconds ttl) {
  const std::optional<claim_rows::holder> mine = rows_.find_holder(name_, sessions_.own(), who.owner);
  if (!mine) return false;
  subtract(mine->part - 1);
  all_.fence = fence;
  rows_.downgrade(name_, sessions_.own(), who.owner, fence);
  rows_.extend(name_, sessions_.own(), who.owner, expiry_after(ttl));
  admit_waiters();
  return true;
}

void stored_queue::resize(std::uint32_t whole) {
  if (all_.whole == storage::share::lock) (void)living_holders(true);
  if (idle()) return;
  if (all_.whole == storage::share::lock) throw storage::disagreement(all_.whole, whole);
  all_.whole = whole;
  admit_waiters();
}

bool stored_queue::release(const entry& who) {
  const std::optional<claim_rows::holder> held = rows_.find_holder(name_, sessions_.own(), who.owner);
  const bool waited = !held && waits(who);
  if (held) {
    rows_.remove_holder(name_, sessions_.own(), who.owner);
    subtract(held->part);
  }
  if (waited) rows_.remove_waiter(name_, who.ticket);
  if (held && who.barges) {  // the lock stays free for the first claim that polls
    if (const std::optional<claim_rows::waiter> first = first_waiter()) ask_to_poll(*first);
    return true;
  }
  const std::optional<claim_rows::waiter> behind = waited ? rows_.first_waiter(name_, who.ticket) : std::nullopt;
  admit_waiters();
  // The waiter behind has watched this one. If it still waits, it has to watch another.
  const std::optional<claim_rows::waiter> still = behind ? rows_.first_waiter(name_, behind->ticket) : std::nullopt;
  if (still && still->owner == behind->owner) ask_to_poll(*behind);
  return held || waited;
}

void stored_queue::break_holder(const claim_rows::row& holder) {
  rows_.remove_holder(name_, holder.held, holder.owner);
  subtract(holder.part);
}

void stored_queue::remove(session_id who) {
  remove_holders(who);
  rows_.remove_waiters(name_, who);
}

void stored_queue::remove_holders(session_id who) {
  rows_.delay_holders(name_, who, runtime::nanoseconds_of(boot_clock::now()));
  subtract(rows_.remove_holders(name_, who));
}

void stored_queue::save() {
  const bool one_holder = all_.whole == storage::share::lock && all_.used == all_.whole && no_waiters_;
  if (one_holder || idle()) {
    if (before_.has_row) rows_.remove_sum(name_);
  } else if (!before_.has_row) {
    rows_.add_sum(name_, all_);
  } else if (all_ != before_) {
    rows_.change_sum(name_, all_);
  }
}

}  // namespace holdfast::directory
