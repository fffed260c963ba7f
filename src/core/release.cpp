#include <functional>
#include <utility>

#include "core/engine.hpp"
#include "core/retry.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

namespace {

event released_event(const lease_state& lease, instant now) {
  return {.what = event::kind::released, .name = lease.of()->name, .fence = lease.fence(), .took = now - lease.began()};
}

}  // namespace

std::optional<released> engine::end_lease(lease_state& lease, instant now) {
  const std::shared_ptr<holding>& h = lease.of();
  if (lease.state() == lease_state::phase::held && !h->valid(now) && !seeded(bug::late_hand_over)) {
    lose(h, now, h->loss_at_deadline());
  }
  if (!lease.end(lease_state::phase::released)) {
    return lease.state() == lease_state::phase::lost ? released::lost : lease.release_result();
  }
  if (hand_over(lease, now)) return released::yes;
  if (!h->finish()) return released::lost;  // it was lost in this instant
  if (!seeded(bug::renewal_after_release)) renewer_.remove(*h);
  return std::nullopt;
}

task<released> engine::release(io& i, std::shared_ptr<lease_state> lease, limit l) {
  const std::optional<released> over = end_lease(*lease, i.now());
  if (over) co_return *over;
  const released result = co_await release_claim(i, lease, l);
  co_return result;
}

task<released> engine::release_claim(io& i, const std::shared_ptr<lease_state>& lease, limit l) {
  try {
    return release_in_turn(i, lease, std::move(l));
  } catch (...) {  // no memory for its frame
    release_in_background(lease->of());
    throw;
  }
}

task<released> engine::release_in_turn(io& i, std::shared_ptr<lease_state> lease, limit l) {
  const std::shared_ptr<holding> h = lease->of();
  released result = released::unknown;
  lease->set_release_result(result);
  try {
    const bool out_of_turn = seeded(bug::renewal_after_release) || seeded(bug::release_out_of_turn);
    bool mine = h->mutex.try_lock() || out_of_turn;
    if (!mine) mine = co_await h->mutex.try_lock_until(i, l);  // a renewal in flight ends first
    if (mine) {
      const runtime::adopted_lock ours(h->mutex);
      storage::answer<storage::done> gone = co_await h->claim->release(i, l);
      env_.store_silence.note(gone, i.now());
      if (gone.is_yes()) result = released::yes;
      if (gone.is_no()) result = released::lost;
    }
  } catch (const std::exception&) {  // the request may have been sent
  }
  lease->set_release_result(result);
  if (env_.report.wanted()) report_release(*lease, i.now(), result);
  if (result == released::unknown) {
    release_in_background(h);  // the caller does not wait for that
  } else {
    wake_next(*h);
  }
  co_return result;
}

/// The holding ends, so that the next local waiter has to ask the store.
void engine::wake_next(holding& h) noexcept {
  if (h.leave_queue()) queue_.wake_next(h.name);
}

/// Releases a lease that was handed to a waiter which has left.
void engine::discard(lease_state& lease) noexcept {
  const std::shared_ptr<holding>& h = lease.of();
  if (!lease.end(lease_state::phase::released) || !h->finish()) return;
  renewer_.remove(*h);
  release_in_background(h);
}

void engine::release_in_background(const std::shared_ptr<holding>& h) noexcept {
  try {
    spawn(retry_release(h));
  } catch (...) {  // no memory even for that: the store drops it by itself
  }
  wake_next(*h);
}

void engine::report_release(const lease_state& lease, instant now, released how) {
  event e = released_event(lease, now);
  if (how == released::lost) e.why = errc::lost;
  if (how == released::unknown) e.why = errc::unreachable;
  env_.tell(e);
}

bool engine::hand_over(const lease_state& lease, instant now) {
  const std::shared_ptr<holding>& h = lease.of();
  const span ttl = h->ttl();
  const bool turn_is_over =
      h->on.fair ? h->lease_count() >= burst_ || now - h->began() >= ttl / 10 : now - h->began() >= ttl;
  const bool too_old = h->deadline() <= now + ttl / 2;
  if (!h->heads_queue()) return false;
  if ((turn_is_over || too_old || h->ttl() != h->on.ttl) && !seeded(bug::late_hand_over)) return false;
  bool noted = false;
  const auto note = [&] { noted = env_.report.note(released_event(lease, now)); };
  try {
    const bool passed = queue_.hand_over(h, now, env_.report.wanted() ? std::function<void()>(note) : nullptr);
    if (noted) env_.report.deliver(env_.user);
    return passed;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

task<void> engine::retry_release(std::shared_ptr<holding> h) {
  const bool mine = co_await h->mutex.try_lock_until(env_.loop, limit(runtime::never, env_.ending.get_token()));
  if (!mine) co_return;
  const runtime::adopted_lock ours(h->mutex);
  const storage::answer<storage::done> gone = co_await retry_release(*h->claim, h->longest_ttl);
  (void)gone;
}

/// Most stores drop the claim by themselves when the lock delay has passed.
task<void> engine::retry_release_after_delay(std::shared_ptr<holding> h) {
  const limit over(later(env_.loop.now(), h->on.delay), env_.ending.get_token());
  const wake why = co_await sleep(env_.loop, over);
  if (why != wake::stopped) co_await retry_release(h);
}

task<void> engine::retry_release(std::unique_ptr<storage::claim> claim, milliseconds ttl) {
  const storage::answer<storage::done> gone = co_await retry_release(*claim, ttl);
  (void)gone;
}

/// Ends after the ttl, when the store has dropped the claim by itself; or only with the engine, if the store never
/// does.
task<storage::answer<storage::done>> engine::retry_release(storage::claim& claim, milliseconds ttl) {
  const retry_rule rule{.last = env_.store_expires ? later(env_.loop.now(), ttl) : runtime::never,
                        .patience = env_.patience,
                        .stop = env_.ending.get_token(),
                        .background = true,
                        .catch_errors = true};
  return retry_until_answered<storage::done>(
      env_.loop, env_.store_silence, rule, [this, &claim](const limit& one) { return claim.release(env_.loop, one); });
}

}  // namespace holdfast::core
