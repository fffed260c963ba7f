#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "core/engine.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

namespace {

event released_event(const tenancy& lease, instant now) {
  return {.what = event::kind::released, .name = lease.of()->name, .fence = lease.fence(), .took = now - lease.began()};
}

constexpr std::string_view not_ours = "the store says that it is not ours any more";

/// Who took what was lost: when a store forgets all it had, the others are told of their losses without a look.
constexpr unsigned max_looks_at_once = 16;
constexpr span longest_look = std::chrono::milliseconds(400);

/// The note has any of the fences that came with one grant.
bool is_about(const state::note& broken, std::uint64_t fence) {
  constexpr std::uint64_t in_a_block = 64;
  return broken.fence > fence ? broken.fence - fence < in_a_block : fence - broken.fence < in_a_block;
}

std::string in_words(const state::note& broken) {
  return "broken by " + broken.by + (broken.reason.empty() ? "" : ": " + broken.reason);
}

}  // namespace

std::optional<released> engine::end_tenancy(tenancy& lease, instant now) {
  const std::shared_ptr<hold>& h = lease.of();
  if (lease.state() == tenancy::phase::held && !h->valid(now) && !seeded(bug::late_hand_over)) {
    lose(h, now, loss_at_deadline(*h));
  }
  if (!lease.end(tenancy::phase::released)) {
    return lease.state() == tenancy::phase::lost ? released::lost : lease.given_back();
  }
  if (hand_over(lease, now)) return released::yes;
  if (!h->finish()) return released::lost;  // it was lost in this instant
  if (!seeded(bug::renewal_after_release)) forget(*h);
  return std::nullopt;
}

task<released> engine::give_up(io& i, const std::shared_ptr<tenancy>& lease, limit l) {
  try {
    return give_up_in_turn(i, lease, std::move(l));
  } catch (...) {  // no memory for its frame
    abandon(lease->of());
    throw;
  }
}

task<released> engine::give_up_in_turn(io& i, std::shared_ptr<tenancy> lease, limit l) {
  const std::shared_ptr<hold> h = lease->of();
  released result = released::unknown;
  lease->give_back(result);
  try {
    const bool out_of_turn = seeded(bug::renewal_after_release) || seeded(bug::release_out_of_turn);
    bool mine = h->mutex.try_lock() || out_of_turn;
    if (!mine) mine = co_await h->mutex.try_lock_until(i, l);  // a renewal in flight ends first
    if (mine) {
      const std::lock_guard ours(h->mutex, std::adopt_lock);
      storage::answer<storage::done> gone = co_await h->claim->release(i, l);
      silence_.hear(gone, i.now());
      if (gone.is_yes()) result = released::yes;
      if (gone.is_no()) result = released::lost;
    }
  } catch (const std::exception&) {  // it may have been sent
  }
  lease->give_back(result);
  if (report_.wanted()) tell_released(*lease, i.now(), result);
  if (result == released::unknown) {
    abandon(h);  // not on the caller's time
  } else {
    call_next(*h);
  }
  co_return result;
}

/// The next local caller has to ask the store.
void engine::call_next(hold& h) noexcept {
  if (h.leave_room()) gate_.next(h.name);
}

/// A lease that nobody wants after all.
void engine::drop(tenancy& lease) noexcept {
  const std::shared_ptr<hold>& h = lease.of();
  if (!lease.end(tenancy::phase::released) || !h->finish()) return;
  forget(*h);
  abandon(h);
}

void engine::abandon(const std::shared_ptr<hold>& h) noexcept {
  try {
    spawn(give_back(h));
  } catch (...) {  // no memory even for that: the store drops it by itself
  }
  call_next(*h);
}

task<released> engine::release(io& i, std::shared_ptr<tenancy> lease, limit l) {
  const std::optional<released> over = end_tenancy(*lease, i.now());
  if (over) co_return *over;
  const released result = co_await give_up(i, lease, l);
  co_return result;
}

void engine::tell_released(const tenancy& lease, instant now, released how) {
  event e = released_event(lease, now);
  if (how == released::lost) e.why = errc::lost;
  if (how == released::unknown) e.why = errc::unreachable;
  report_.tell(user_, e);
}

bool engine::hand_over(const tenancy& lease, instant now) {
  const std::shared_ptr<hold>& h = lease.of();
  const span ttl = h->ttl();
  const bool turn_is_over =
      h->on.fair ? h->seated() >= settings_.burst || now - h->began() >= ttl / 10 : now - h->began() >= ttl;
  const bool too_old = h->deadline() <= now + ttl / 2;
  if (!h->has_room()) return false;
  if ((turn_is_over || too_old || h->ttl() != h->on.ttl) && !seeded(bug::late_hand_over)) return false;
  bool to_be_told = false;
  const auto note = [&] { to_be_told = report_.note(released_event(lease, now)); };
  try {
    const bool passed = gate_.pass(h, now, report_.wanted() ? std::function<void()>(note) : nullptr);
    if (to_be_told) report_.deliver(user_);
    return passed;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

engine::loss engine::loss_at_deadline(const hold& h) noexcept {
  return h.on.renew && h.must_end() == runtime::never ? loss::unrenewed : loss::run_out;
}

/// The hold has ended against its holder's will. Nothing is ever lost twice.
void engine::lose(const std::shared_ptr<hold>& h, instant now, loss how) {
  const std::shared_ptr<tenancy> tenant = h->finish();
  if (!tenant) return;
  forget(*h);
  if (tenant->end(tenancy::phase::lost)) {
    tell_loss(*h, *tenant, now, how);
    // What waits at the executor owns no claim: it may wait there for longer than the store lives.
    std::optional<std::stop_source> source = tenant->mark_loss();
    if (source) user_.post([s = std::move(*source)]() mutable { s.request_stop(); });
  }
  if (seeded(bug::loss_keeps_the_room)) return;
  if (how == loss::taken && !h->claim->has_parts()) {
    call_next(*h);
  } else if (h->on.delay > milliseconds(0) && !seeded(bug::delay_forgotten)) {
    try {
      spawn(give_back_later(h));
    } catch (...) {  // no memory even for that: the store drops it by itself
    }
    call_next(*h);
  } else {
    abandon(h);  // the store may still think that it is ours
  }
}

/// Of what was taken the observer hears after one look at who did it: the lease's own signal does not wait for that.
void engine::tell_loss(const hold& h, const tenancy& lease, instant now, loss how) noexcept {
  if (!report_.wanted()) return;
  const span held_for = now - lease.began();
  if (how == loss::taken && !ending_.stop_requested()) {
    const bool few =
        ++looks_ <= max_looks_at_once;  // counted here: a thousand may be lost before the first look begins
    try {
      if (few) return spawn(tell_who_took(h.name, lease.fence(), held_for));
    } catch (const std::bad_alloc&) {  // then without it
    }
    --looks_;
  }
  constexpr std::string_view words[] = {"its time is over", "not renewed before its deadline", not_ours};
  report_.tell(user_, {.what = event::kind::lost,
                       .name = h.name,
                       .fence = lease.fence(),
                       .took = held_for,
                       .why = how == loss::unrenewed ? errc::unreachable : errc::lost,
                       .text = words[static_cast<std::size_t>(how)]});
}

task<void> engine::tell_who_took(std::string name, std::uint64_t fence, span held_for) {
  std::string why(not_ours);
  try {
    const limit soon(later(loop_.now(), longest_look), ending_.get_token());
    storage::answer<state> is = co_await backend_.admin().inspect(loop_, name, soon);
    if (is.is_yes() && is.value().broken && is_about(*is.value().broken, fence)) why = in_words(*is.value().broken);
  } catch (const std::exception&) {  // it is only a word more
  }
  --looks_;
  report_.tell(
      user_,
      {.what = event::kind::lost, .name = name, .fence = fence, .took = held_for, .why = errc::lost, .text = why});
}

task<void> engine::give_back(std::shared_ptr<hold> h) {
  const bool mine = co_await h->mutex.try_lock_until(loop_, limit(runtime::never, ending_.get_token()));
  if (!mine) co_return;
  const std::lock_guard ours(h->mutex, std::adopt_lock);
  co_await release_until_known(*h->claim, h->longest_ttl);
}

/// When its lock delay is over. Most stores drop it by themselves about then.
task<void> engine::give_back_later(std::shared_ptr<hold> h) {
  const limit over(later(loop_.now(), h->on.delay), ending_.get_token());
  const wake why = co_await sleep(loop_, over);
  if (why != wake::stopped) co_await give_back(h);
}

task<void> engine::give_back(std::unique_ptr<storage::claim> claim, milliseconds ttl) {
  co_await release_until_known(*claim, ttl);
}

/// For a ttl at most: after that the store has dropped it by itself. One that does not is asked to the end.
task<void> engine::release_until_known(storage::claim& claim, milliseconds ttl) {
  const instant end = drops_by_itself_ ? later(loop_.now(), ttl) : runtime::never;
  for (unsigned tries = 0;; ++tries) {
    const limit for_reply(std::min(end, later(loop_.now(), settings_.patience)), ending_.get_token());
    bool over = false;
    try {
      storage::answer<storage::done> gone = co_await claim.release(loop_, for_reply);
      silence_.hear(gone, loop_.now());
      over = !gone.is_unknown();
    } catch (const std::exception&) {  // asked again
    }
    if (over || loop_.now() >= end) co_return;
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), back_off(loop_, tries)), ending_.get_token()));
    if (why == wake::stopped) co_return;
  }
}

}  // namespace holdfast::core
