#include "storage/lock_queue.hpp"

#include <algorithm>

#include "seeded_bugs.hpp"

namespace holdfast::storage {

using runtime::instant;
using std::chrono::milliseconds;

const lock_queue::holder* lock_queue::acquire(const waiter& who, mode how, instant now) {
  drop_expired(now);
  if (idle()) whole_ = who.wants.whole;
  const auto place = std::ranges::find(waiters_, who.owner, &waiter::owner);
  const bool is_new = place == waiters_.end() && find(who.owner) == nullptr;
  if (place != waiters_.end()) place->leaves_at = who.leaves_at;
  if (how == mode::unfair && find(who.owner) == nullptr && has_room_for(who.wants) && whole_ == who.wants.whole) {
    holder* const mine = &admit(who, now);
    remove_waiter(who.owner);
    return mine;
  }
  admit_first(now);  // whose turn it is may have come because a holder expired
  if (holder* const mine = find(who.owner)) {
    mine->expires = std::max(mine->expires, now + who.ttl);
    return mine;
  }
  // A claim that came before the semaphore was resized stays.
  if (is_new && whole_ != who.wants.whole) throw disagreement(whole_, who.wants.whole);
  if (waiters_.empty() && has_room_for(who.wants)) return &admit(who, now);
  if (is_new && how != mode::once) waiters_.push_back(who);
  return nullptr;
}

bool lock_queue::renew(const owner_id& owner, milliseconds ttl, instant now) {
  holder* const mine = find(owner);
  if (mine == nullptr || mine->expires <= now) return false;
  mine->expires = std::max(mine->expires, now + ttl);  // the request may be older than the last one
  return true;
}

bool lock_queue::downgrade(const owner_id& owner, std::uint64_t fence, milliseconds ttl, instant now) {
  holder* mine = find(owner);
  if (mine == nullptr || mine->expires <= now || fence < mine->fence) return false;
  if (seeded(bug::gap_in_downgrade)) {
    const holder was = *mine;
    remove_holder(owner);
    admit_first(now);
    mine = &holders_.emplace_back(was);
    used_ += was.part;
  }
  used_ -= mine->part - 1;
  mine->part = 1;
  mine->fence = fence;
  mine->expires = std::max(mine->expires, now + ttl);
  admit_first(now);
  return true;
}

bool lock_queue::release(const owner_id& owner, bool unfair, instant now) {
  drop_expired(now);
  const bool waited = remove_waiter(owner);
  const bool held = remove_holder(owner);
  if (seeded(bug::permits_given_back_twice) && !held && whole_ != share::lock) --used_;
  if (held && unfair && !waiters_.empty()) {
    notify_(waiters_.front().owner);
  } else {
    admit_first(now);
  }
  return waited || held;
}

void lock_queue::break_holders(const std::vector<owner_id>& owners, instant now) {
  for (const owner_id& each : owners) remove_holder(each);
  admit_first(now);
}

void lock_queue::resize(std::uint32_t whole, instant now) {
  whole_ = whole;
  admit_first(now);
}

bool lock_queue::waits(const owner_id& owner) const noexcept {
  return std::ranges::find(waiters_, owner, &waiter::owner) != waiters_.end();
}

void lock_queue::drop_expired(instant now) {
  std::erase_if(waiters_, [&](const waiter& each) { return each.leaves_at <= now; });
  std::erase_if(holders_, [&](const holder& each) {
    if (each.expires > now) return false;
    if (!seeded(bug::dead_keep_their_permits)) used_ -= each.part;
    return true;
  });
}

bool lock_queue::has_room_for(const share& wants) const noexcept {
  if (seeded(bug::reader_beside_writer) && wants == share::reader()) return true;
  if (seeded(bug::writer_beside_readers) && wants.exclusive()) return used_ < share::lock;
  return used_ + wants.part <= whole_;
}

lock_queue::holder* lock_queue::find(const owner_id& owner) noexcept {
  const auto at = std::ranges::find(holders_, owner, &holder::owner);
  return at == holders_.end() ? nullptr : &*at;
}

/// Readers that join others get their fence. Changes nothing if memory runs out.
lock_queue::holder& lock_queue::admit(const waiter& who, instant now) {
  const bool joins = who.wants == share::reader() && !holders_.empty();
  const bool has_own_fence = !joins || seeded(bug::readers_with_own_fences);
  const std::uint64_t fence = has_own_fence ? next_fence_(who.wants) : holders_.front().fence;
  const instant since = joins ? holders_.front().since : now;
  holder& admitted = holders_.emplace_back(holder{who.owner, who.wants.part, fence, who.label, since, now + who.ttl});
  used_ += who.wants.part;
  return admitted;
}

void lock_queue::admit_first(instant now) {
  drop_expired(now);
  while (!waiters_.empty() && has_room_for(waiters_.front().wants)) {
    const owner_id owner = admit(waiters_.front(), now).owner;
    waiters_.pop_front();
    notify_(owner);
  }
}

bool lock_queue::remove_holder(const owner_id& owner) {
  return std::erase_if(holders_, [&](const holder& each) {
           if (each.owner != owner) return false;
           used_ -= each.part;
           return true;
         }) > 0;
}

bool lock_queue::remove_waiter(const owner_id& owner) noexcept {
  return std::erase_if(waiters_, [&](const waiter& each) { return each.owner == owner; }) > 0;
}

}  // namespace holdfast::storage
