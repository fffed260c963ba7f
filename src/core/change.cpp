#include <algorithm>

#include "core/engine.hpp"
#include "core/retry.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

namespace {

task<storage::answer<instant>> not_held() { co_return storage::answer<instant>::no({.holder = {}, .asked = false}); }

storage::answer<instant> renewal_in_flight() {
  return storage::answer<instant>::unknown(storage::failure(errc::unreachable, "another renewal is still under way"));
}

}  // namespace

task<storage::answer<instant>> engine::renew(io& i, std::shared_ptr<lease_state> lease, milliseconds ttl, limit l) {
  const std::shared_ptr<holding> h = lease->of();
  const instant asked = i.now();
  if (!lease->held(asked)) co_return storage::answer<instant>::no();
  // Half of what is left: if this renewal gets no answer, the renewer must have time for another.
  const instant enough = asked + std::min<span>(h->left(asked) / 2, env_.patience);
  const limit until(std::min(l.at(), enough), l.stop());
  bool mine = h->mutex.try_lock();
  if (!mine) mine = co_await h->mutex.try_lock_until(i, until);
  if (!mine) co_return renewal_in_flight();
  const runtime::adopted_lock ours(h->mutex);
  if (!lease->held(i.now())) co_return storage::answer<instant>::no();
  const storage::answer<instant> answer = co_await renewer_.renew(i, h, ttl, until);
  if (answer.is_yes()) h->change_ttl(ttl);
  co_return answer;
}

task<storage::answer<instant>> engine::downgrade(io& i, std::shared_ptr<lease_state> lease, limit l) {
  const std::shared_ptr<holding> h = lease->of();
  const limit while_held(std::min(l.at(), h->deadline()), l.stop());
  const retry_rule rule = retry_rule::within(while_held, i.now(), env_.patience);
  bool mine = h->mutex.try_lock();
  if (!mine) mine = co_await h->mutex.try_lock_until(i, limit(rule.last, rule.stop));
  if (!mine) co_return renewal_in_flight();
  const runtime::adopted_lock ours(h->mutex);
  bool ended = false;
  const auto ask = [&](const limit& one) {
    ended = !lease->held(i.now());
    if (ended) return not_held();
    // Before the answer, if any: from now on this may be a reader's place, which is not handed to a local writer.
    if (!seeded(bug::downgrade_stays_in_queue)) wake_next(*h);
    return h->claim->downgrade(i, lease->fence(), h->ttl(), one);
  };
  storage::answer<instant> answer = co_await retry_until_answered<instant>(i, env_.store_silence, rule, ask);
  if (answer.is_no() && !ended) lose(h, i.now(), loss::rejected);
  if (answer.is_yes() && h->extend(answer.value(), i.now())) renewer_.reschedule(*h, i.now());
  co_return answer;
}

}  // namespace holdfast::core
