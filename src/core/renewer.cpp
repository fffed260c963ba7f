#include "core/renewer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/back_off.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;
using runtime::later;
using runtime::never;
using runtime::wake;

namespace {

/// How many renewals are under way at once on each shard. When thousands are due, for example after a connection broke,
/// the others wait here, where they cost nothing. If all were sent, most replies would come when they are no longer
/// awaited, and the requests would be sent again.
constexpr unsigned window_size = 1024;

/// True if the first may be renewed now, together with others that are due. A deadline is never handled early.
bool is_first_almost_due(const due_heap& holdings, instant now) {
  if (holdings.size() == 0) return false;
  const holding& h = *holdings.top();
  return holdings.first() < h.deadline() && holdings.first() <= now + std::min<span>(h.ttl() / 100, 20ms);
}

}  // namespace

task<void> renewer::run() {
  for (;;) {
    instant next = later(env_.loop.now(), 100ms);
    try {
      deliver_revoke_requests();
      next = renew_due(env_.loop.now());
    } catch (const std::bad_alloc&) {  // nothing was removed: try again soon
    }
    const wake why = co_await wait(env_.loop, wake_, limit(next, env_.ending.get_token()));
    if (why == wake::stopped) break;
  }
  for (window& each : windows_) each.waiting = {};  // no claim outlives its store
}

/// Returns when to look again.
instant renewer::renew_due(instant now) {
  for (bool some_are = false;; some_are = true) {
    std::shared_ptr<holding> first;
    const instant next = schedule_.with([&](schedule& s) {
      if (s.holdings.first() <= now || (some_are && is_first_almost_due(s.holdings, now))) {
        first = s.holdings.top();
        if (now >= first->deadline()) {
          s.holdings.remove(*first);
        } else {  // its renewal may get no answer: the deadline stays watched
          s.holdings.move(*first, seeded(bug::silent_loss) ? never : first->deadline());
        }
      } else if (s.holdings.size() != 0 || s.armed <= now) {
        s.armed = s.holdings.first();
      }  // else it sleeps on, although there is nothing to do: the next add() need not wake it
      return s.armed;
    });
    if (!first) {
      for (storage::shard on = 0; on < windows_.size(); ++on) begin_renewals(on);
      return next;
    }
    if (now >= first->deadline()) {
      lose_(first, now, first->loss_at_deadline());
      continue;
    }
    try {
      await_renewal(first);
    } catch (const std::bad_alloc&) {
      retry_soon(*first);
      throw;
    }
  }
}

void renewer::await_renewal(const std::shared_ptr<holding>& h) {
  if (h->awaits_renewal) return;
  const storage::shard on = h->claim->lies_on();
  if (on >= windows_.size()) windows_.resize(on + 1);
  windows_[on].waiting.push({h->deadline(), h});
  h->awaits_renewal = true;
}

/// Begins with those that have the least time left.
void renewer::begin_renewals(storage::shard on) noexcept {
  window& there = windows_[on];
  while (there.begun < window_size && !there.waiting.empty() && !env_.ending.stop_requested()) {
    const std::shared_ptr<holding> next = there.waiting.top().what;
    there.waiting.pop();
    next->awaits_renewal = false;
    if (next->finished()) continue;
    try {
      env_.tasks.spawn(renew_one(next, on));
      ++there.begun;
    } catch (const std::bad_alloc&) {
      retry_soon(*next);
    }
  }
}

task<void> renewer::renew_one(std::shared_ptr<holding> h, storage::shard on) {
  const struct ending {
    renewer& of;
    const storage::shard on;
    ~ending() {
      --of.windows_[on].begun;
      of.begin_renewals(on);
    }
  } at_the_end{*this, on};
  try {
    bool mine = h->mutex.try_lock();
    if (!mine) mine = co_await h->mutex.try_lock_until(env_.loop, limit(h->deadline(), env_.ending.get_token()));
    if (!mine) co_return;  // the deadline has passed, which run() handles
    const runtime::adopted_lock ours(h->mutex);
    const instant sent = env_.loop.now();
    // If less than the smallest ttl is left, a renewal gains nothing.
    const bool worth_it = std::min(h->must_end(), h->on.renew ? never : h->deadline()) >= sent + 10ms;
    if ((!h->finished() && h->valid(sent) && worth_it) || seeded(bug::renewal_after_release)) {
      // A fixed lease is only checked, not extended.
      const milliseconds wanted = h->on.renew ? h->ttl() : 10ms;
      const milliseconds ttl = std::min(wanted, std::chrono::ceil<milliseconds>(h->must_end() - sent));
      // Half of what is left: if the request is lost, there must be time for another.
      const span half = std::max<span>(h->left(sent) / 2, ttl / 20);
      const instant enough = sent + std::min(half, env_.patience);
      const storage::answer<instant> answer = co_await renew(env_.loop, h, ttl, limit(enough, env_.ending.get_token()));
      (void)answer;  // renew() has handled it
    }
  } catch (const std::bad_alloc&) {
    retry_soon(*h);
  }
}

task<storage::answer<instant>> renewer::renew(io& i, std::shared_ptr<holding> h, milliseconds ttl, limit l) {
  const instant sent = i.now();
  h->longest_ttl = std::max(h->longest_ttl, ttl + h->on.delay);
  storage::answer<instant> answer = storage::answer<instant>::no();
  try {
    answer = co_await h->claim->renew(i, ttl, l);
  } catch (const std::exception& e) {  // the request may have been sent
    answer = storage::answer<instant>::unknown(storage::failure(errc::not_ready, e.what()));
  }
  const instant now = i.now();
  env_.store_silence.note(answer, now);
  if (answer.is_unknown() && seeded(bug::unknown_is_yes)) {
    answer = storage::answer<instant>::yes(storage::deadline_after(sent, ttl));
  }
  if (answer.is_unknown()) {
    on_unanswered(i, h, sent, answer.why());
    co_return answer;
  }
  h->unanswered = 0;
  if (answer.is_no()) {
    lose_(h, now, loss::rejected);
    co_return answer;
  }
  if (!h->extend(answer.value(), now)) {
    lose_(h, now, loss::unrenewed);
    co_return storage::answer<instant>::no();
  }
  env_.tell({.what = event::kind::renewed, .name = h->name, .fence = h->fence(), .took = now - sent});
  reschedule(*h, now);
  co_return answer;
}

void renewer::on_unanswered(io& i, const std::shared_ptr<holding>& h, instant sent, const storage::failure& why) {
  const instant now = i.now();
  env_.tell({.what = event::kind::suspect,
             .name = h->name,
             .fence = h->fence(),
             .took = now - sent,
             .why = why.code,
             .text = why.text});
  if (why.permanent() && !env_.store_expires) return lose_(h, now, loss::rejected);  // no deadline would ever end it
  if (!h->on.renew || seeded(bug::silent_loss)) return;
  const span pause = back_off(i, 4) * (1u << std::min(h->unanswered++, 5u));
  renew_at(*h, std::min(h->deadline(), now + std::max<span>(1ms, std::min<span>(h->ttl() / 20, pause))));
}

/// There was no memory for it just now.
void renewer::retry_soon(holding& h) noexcept {
  const instant now = env_.loop.now();
  renew_at(h, std::min(h.deadline(), now + std::min<span>(h.ttl() / 10, 100ms)));
}

instant renewer::next_renewal(const holding& h, instant now) const noexcept {
  const instant deadline = h.deadline();
  if (!h.on.renew || deadline == never) return deadline;  // never: the store needs no ttl
  // The last renewal reaches the end of max_hold, less the margin. After that there is nothing to gain.
  if (h.must_end() != never && deadline >= h.must_end() - (h.ttl() / 50 + 5ms)) return deadline;
  const span left = deadline - now;
  // A grant that the store made on our behalf, while we waited, is much shorter than the ttl. It is extended soon,
  // unless it is released before.
  if (left < h.ttl() / 2) return now + std::min<span>(left * 2 / 5, 10ms);
  return now + std::min<span>(h.ttl() / 3, left * 2 / 5);
}

void renewer::add(const std::shared_ptr<holding>& h, instant now) {
  const instant at = next_renewal(*h, now);
  std::optional<storage::revoke_request> early;
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holdings.add(h, at);
    early = s.requests.take_early(*h);
    return s.arm(at);
  });
  while (early) {
    deliver(*h, *early);
    early = schedule_.with([&](schedule& s) { return s.requests.take_early(*h); });
  }
  // Only then: an uncontended lock and unlock wakes no thread.
  if (earlier && !seeded(bug::late_renewer)) wake_.set();
}

void renewer::renew_at(holding& h, instant at) noexcept {
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holdings.move(h, at);
    return s.arm(at);
  });
  if (earlier) wake_.set();
}

void renewer::verify(storage::shard on) noexcept {
  const instant now = env_.loop.now();
  const auto may_lie_there = [on](const holding& h) {
    if (on == storage::no_shard) return true;
    const storage::shard lies_on = h.claim->lies_on();
    return lies_on == on || lies_on == storage::no_shard;
  };
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holdings.move_if(may_lie_there, now);
    return s.arm(now);
  });
  if (earlier) wake_.set();
}

void renewer::remove(holding& h) noexcept {
  schedule_.with([&](schedule& s) { s.holdings.remove(h); });
}

std::size_t renewer::size() const noexcept {
  return schedule_.with([](const schedule& s) { return s.holdings.size(); });
}

void renewer::request_revoke(storage::revoke_request what) noexcept {
  try {
    schedule_.with([&](schedule& s) { s.requests.add(std::move(what)); });
  } catch (const std::bad_alloc&) {  // the store or the requesting client repeats it
    return;
  }
  wake_.set();
}

void renewer::deliver_revoke_requests() {
  const revoke_requests::matches found = schedule_.with([](schedule& s) { return s.requests.take(s.holdings); });
  for (const auto& [who, what] : found) deliver(*who, what);
}

void renewer::deliver(holding& h, const storage::revoke_request& what) {
  // That the lock was taken by force is not believed at once: a renewal finds out.
  if (what.broken) return renew_at(h, env_.loop.now());
  const std::shared_ptr<lease_state> lease = h.request_revoke(what);
  if (!lease || lease->state() != lease_state::phase::held) return;
  env_.tell({.what = event::kind::revoke_requested,
             .name = h.name,
             .fence = lease->fence(),
             .took = env_.loop.now() - lease->began(),
             .text = what.reason});
  std::optional<std::stop_source> source = lease->mark_revoke_requested();
  if (source) env_.user.post([s = std::move(*source)]() mutable { s.request_stop(); });
}

}  // namespace holdfast::core
