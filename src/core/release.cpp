#include <algorithm>
#include <functional>
#include <utility>

#include "core/engine.hpp"
#include "planted.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

std::optional<released> engine::end_tenancy(tenancy& lease, instant now) {
  const std::shared_ptr<hold>& h = lease.of();
  if (lease.state() == tenancy::phase::held && !h->valid(now) && !planted(bug::late_hand_over)) {
    lose(h, now, loss_at_deadline(*h));
  }
  if (!lease.end(tenancy::phase::released)) {
    return lease.state() == tenancy::phase::lost ? released::lost : released::yes;
  }
  if (hand_over(lease, now)) return released::yes;
  if (!h->finish()) return released::lost;  // it was lost in this instant
  if (!planted(bug::renewal_after_release)) forget(*h);
  return std::nullopt;
}

task<released> engine::give_up(io& i, std::shared_ptr<tenancy> lease, limit l) {
  const std::shared_ptr<hold> h = lease->of();
  bool mine = h->turn.try_enter() || planted(bug::renewal_after_release);
  if (!mine) mine = co_await h->turn.enter(i, l);  // a renewal in flight ends first
  released result = released::unknown;
  if (mine) {
    const seam::answer<seam::done> gone = co_await h->claim->release(i, l);
    h->turn.leave();
    if (gone.is_yes()) result = released::yes;
    if (gone.is_no()) result = released::lost;
  }
  if (result == released::unknown) spawn(give_back(h));  // not on the caller's time
  if (report_.wanted()) tell_released(*lease, i.now(), result);
  gate_.next(h->name);
  co_return result;
}

task<released> engine::release(io& i, std::shared_ptr<tenancy> lease, limit l) {
  const std::optional<released> over = end_tenancy(*lease, i.now());
  if (over) co_return *over;
  const released result = co_await give_up(i, lease, l);
  co_return result;
}

void engine::tell_released(const tenancy& lease, instant now, released how) {
  event e{.what = event::kind::released, .name = lease.of()->name, .fence = lease.fence(), .took = now - lease.began()};
  if (how == released::lost) e.why = errc::lost;
  if (how == released::unknown) e.why = errc::unreachable;
  report_.tell(user_, e);
}

bool engine::hand_over(const tenancy& lease, instant now) {
  const std::shared_ptr<hold>& h = lease.of();
  const span ttl = h->ttl();
  const bool turn_is_over = h->seated() >= settings_.burst || now - h->began() >= ttl / 10;
  const bool too_old = h->deadline() <= now + ttl / 2;
  if ((turn_is_over || too_old || h->ttl() != h->on.ttl) && !planted(bug::late_hand_over)) return false;
  std::function<void()> tell;
  if (report_.wanted()) tell = [&] { tell_released(lease, now); };
  return gate_.pass(h, now, tell);
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
    constexpr std::string_view words[] = {"its time is over", "not renewed before its deadline",
                                          "the store says that it is not ours any more"};
    report_.tell(user_, {.what = event::kind::lost,
                         .name = h->name,
                         .fence = tenant->fence(),
                         .took = now - tenant->began(),
                         .why = how == loss::unrenewed ? errc::unreachable : errc::lost,
                         .text = words[static_cast<std::size_t>(how)]});
    // What waits at the executor owns no claim: it may wait there for longer than the store lives.
    std::optional<std::stop_source> source = tenant->mark_loss();
    if (source) user_.post([s = std::move(*source)]() mutable { s.request_stop(); });
  }
  if (how != loss::taken) spawn(give_back(h));  // the store may still think that it is ours
  if (!planted(bug::loss_keeps_the_room)) gate_.next(h->name);
}

task<void> engine::give_back(std::shared_ptr<hold> h) {
  const bool mine = co_await h->turn.enter(home_, limit(runtime::never, ending_.get_token()));
  if (!mine) co_return;
  co_await release_until_known(*h->claim, h->longest_ttl);
  h->turn.leave();
}

task<void> engine::give_back(std::unique_ptr<seam::claim> claim, milliseconds ttl) {
  co_await release_until_known(*claim, ttl);
}

/// For a ttl at most: after that the store has dropped it by itself.
task<void> engine::release_until_known(seam::claim& claim, milliseconds ttl) {
  const instant end = later(home_.now(), ttl);
  for (unsigned tries = 0;; ++tries) {
    const limit for_reply(std::min(end, later(home_.now(), settings_.patience)), ending_.get_token());
    const seam::answer<seam::done> gone = co_await claim.release(home_, for_reply);
    if (!gone.is_unknown() || home_.now() >= end) co_return;
    const wake why = co_await sleep(home_, limit(later(home_.now(), back_off(home_, tries)), ending_.get_token()));
    if (why == wake::stopped) co_return;
  }
}

}  // namespace holdfast::core
