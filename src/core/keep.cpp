#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "core/engine.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;
using runtime::later;
using runtime::never;
using runtime::wake;

namespace {

/// So many are renewed at once on each shard. When thousands are due, after a connection broke, say, the others wait
/// here, where they cost nothing; in a queue of requests most would be answered when nobody waits for them any more,
/// and be sent again.
constexpr unsigned most_at_once = 1024;

/// It may be renewed now, with others that are due. An alarm at its deadline is not to go off early.
bool is_first_almost_due(const due_heap& holds, instant now) {
  if (holds.size() == 0) return false;
  const hold& h = *holds.top();
  return holds.first() < h.deadline() && holds.first() <= now + std::min<span>(h.ttl() / 100, 20ms);
}

}  // namespace

/// One task for all holds: a held lease has no frame and no timer of its own.
task<void> engine::keep() {
  for (;;) {
    instant next = later(loop_.now(), 100ms);
    try {
      hear();
      next = keep_those_that_are_due(loop_.now());
    } catch (const std::bad_alloc&) {  // nothing was forgotten: again in a while
    }
    const wake why = co_await wait(loop_, kick_, limit(next, ending_.get_token()));
    if (why == wake::stopped) break;
  }
  for (renewals& each : renewals_) each.due = {};  // no claim outlives its store
}

/// When to look again.
instant engine::keep_those_that_are_due(instant now) {
  for (bool some_are = false;; some_are = true) {
    std::shared_ptr<hold> due;
    const instant next = schedule_.with([&](schedule& s) {
      if (s.holds.first() <= now || (some_are && is_first_almost_due(s.holds, now))) {
        due = s.holds.top();
        if (now >= due->deadline()) {
          s.holds.remove(*due);
        } else {  // its renewal may get no answer: the deadline stays watched
          s.holds.move(*due, seeded(bug::silent_loss) ? never : due->deadline());
        }
      } else if (s.holds.size() != 0 || s.armed <= now) {
        s.armed = s.holds.first();
      }  // else it sleeps on, although there is nothing to do: whoever locks next need not wake it
      return s.armed;
    });
    if (!due) {
      for (storage::shard on = 0; on < renewals_.size(); ++on) begin_to_keep(on);
      return next;
    }
    if (now >= due->deadline()) {
      lose(due, now, loss_at_deadline(*due));
      continue;
    }
    try {
      keep_soon(due);
    } catch (const std::bad_alloc&) {
      care_again(*due);
      throw;
    }
  }
}

void engine::keep_soon(const std::shared_ptr<hold>& h) {
  if (h->to_be_kept) return;
  const storage::shard on = h->claim->lies_on();
  if (on >= renewals_.size()) renewals_.resize(on + 1);
  renewals_[on].due.push({h->deadline(), h});
  h->to_be_kept = true;
}

/// Those first that have the least time left.
void engine::begin_to_keep(storage::shard on) noexcept {
  renewals& there = renewals_[on];
  while (there.begun < most_at_once && !there.due.empty() && !ending_.stop_requested()) {
    const std::shared_ptr<hold> next = there.due.top().what;
    there.due.pop();
    next->to_be_kept = false;
    if (next->finished()) continue;
    try {
      spawn(keep_one(next, on));
      ++there.begun;
    } catch (const std::bad_alloc&) {
      care_again(*next);
    }
  }
}

task<void> engine::keep_one(std::shared_ptr<hold> h, storage::shard on) {
  const struct ending {
    engine& of;
    const storage::shard on;
    ~ending() {
      --of.renewals_[on].begun;
      of.begin_to_keep(on);
    }
  } at_the_end{*this, on};
  try {
    bool mine = h->mutex.try_lock();
    if (!mine) mine = co_await h->mutex.try_lock_until(loop_, limit(h->deadline(), ending_.get_token()));
    if (!mine) co_return;  // the keeper's alarm at the deadline takes care of it
    const std::lock_guard ours(h->mutex, std::adopt_lock);
    const instant sent = loop_.now();
    // Less than the smallest ttl is left: there is nothing to gain.
    const bool worth_it = std::min(h->must_end(), h->on.renew ? never : h->deadline()) >= sent + 10ms;
    if ((!h->finished() && h->valid(sent) && worth_it) || seeded(bug::renewal_after_release)) {
      // A fixed lease is only looked at, and not extended.
      const milliseconds wanted = h->on.renew ? h->ttl() : 10ms;
      const milliseconds ttl = std::min(wanted, std::chrono::ceil<milliseconds>(h->must_end() - sent));
      // Half of what is left: a lost request must leave time for another.
      const span half = std::max<span>(h->left(sent) / 2, ttl / 20);
      const instant enough = sent + std::min(half, settings_.patience);
      const storage::answer<instant> answer = co_await extend(loop_, h, ttl, limit(enough, ending_.get_token()));
      (void)answer;  // extend() has drawn the consequences
    }
  } catch (const std::bad_alloc&) {
    care_again(*h);
  }
}

/// There was no memory for it just now.
void engine::care_again(hold& h) noexcept {
  const instant now = loop_.now();
  care_at(h, std::min(h.deadline(), now + std::min<span>(h.ttl() / 10, 100ms)));
}

/// With the hold's turn.
task<storage::answer<instant>> engine::extend(io& i, std::shared_ptr<hold> h, milliseconds ttl, limit l) {
  const instant sent = i.now();
  h->longest_ttl = std::max(h->longest_ttl, ttl + h->on.delay);
  storage::answer<instant> answer = storage::answer<instant>::no();
  try {
    answer = co_await h->claim->renew(i, ttl, l);
  } catch (const std::exception& e) {  // it may have been sent
    answer = storage::answer<instant>::unknown(storage::failure(errc::not_ready, e.what()));
  }
  const instant now = i.now();
  silence_.hear(answer, now);
  if (answer.is_unknown() && seeded(bug::unknown_is_yes)) {
    answer = storage::answer<instant>::yes(storage::deadline_after(sent, ttl));
  }
  if (answer.is_unknown()) {
    const storage::failure& why = answer.why();
    report_.tell(user_, {.what = event::kind::suspect,
                         .name = h->name,
                         .fence = h->fence(),
                         .took = now - sent,
                         .why = why.code,
                         .text = why.text});
    if (why.permanent() && !drops_by_itself_) {  // no deadline would ever end it
      lose(h, now, loss::taken);
      co_return answer;
    }
    if (h->on.renew && !seeded(bug::silent_loss)) {
      const span pause = back_off(i, 4) * (1u << std::min(h->unanswered++, 5u));
      care_at(*h, std::min(h->deadline(), now + std::max<span>(1ms, std::min<span>(h->ttl() / 20, pause))));
    }
    co_return answer;
  }
  h->unanswered = 0;
  if (answer.is_no()) {
    lose(h, now, loss::taken);
    co_return answer;
  }
  if (!h->extend(answer.value(), now)) {
    lose(h, now, loss::unrenewed);
    co_return storage::answer<instant>::no();
  }
  report_.tell(user_, {.what = event::kind::renewed, .name = h->name, .fence = h->fence(), .took = now - sent});
  care_at(*h, next_care(*h, now));
  co_return answer;
}

instant engine::next_care(const hold& h, instant now) const noexcept {
  const instant deadline = h.deadline();
  if (!h.on.renew || deadline == never) return deadline;  // never: the store needs no ttl
  // A last renewal goes to the very end of max_hold, less the margin; after that there is nothing to gain.
  if (h.must_end() != never && deadline >= h.must_end() - (h.ttl() / 50 + 5ms)) return deadline;
  const span left = deadline - now;
  // A grant that was made on our behalf, while we waited, is much shorter than the ttl. It soon gets its full length,
  // unless it is given back before.
  if (left < h.ttl() / 2) return now + std::min<span>(left * 2 / 5, 10ms);
  return now + std::min<span>(h.ttl() / 3, left * 2 / 5);
}

void engine::keep_from_now(const std::shared_ptr<hold>& h, instant now) {
  const instant at = next_care(*h, now);
  std::optional<storage::revoke_request> early;
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holds.add(h, at);
    if (!s.early.empty()) early = s.early_for(*h);
    return s.arm(at);
  });
  while (early) {
    hear_of(*h, *early);
    early = schedule_.with([&](schedule& s) { return s.early_for(*h); });
  }
  // Only then: an uncontended lock and unlock wakes nobody.
  if (earlier && !seeded(bug::late_keeper)) kick_.set();
}

void engine::care_at(hold& h, instant at) noexcept {
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holds.move(h, at);
    return s.arm(at);
  });
  if (earlier) kick_.set();
}

void engine::verify(storage::shard on) noexcept {
  const instant now = loop_.now();
  const auto may_lie_there = [on](const hold& h) {
    if (on == storage::no_shard) return true;
    const storage::shard lies_on = h.claim->lies_on();
    return lies_on == on || lies_on == storage::no_shard;
  };
  const bool earlier = schedule_.with([&](schedule& s) {
    s.holds.move_if(may_lie_there, now);
    return s.arm(now);
  });
  if (earlier) kick_.set();
}

void engine::forget(hold& h) noexcept {
  schedule_.with([&](schedule& s) { s.holds.remove(h); });
}

task<storage::answer<instant>> engine::renew(io& i, std::shared_ptr<tenancy> lease, milliseconds ttl, limit l) {
  const std::shared_ptr<hold> h = lease->of();
  storage::answer<instant> answer = storage::answer<instant>::no();
  const instant asked = i.now();
  if (!lease->held(asked)) co_return answer;
  // Half of what is left: if this one gets no answer, the keeper must have time for another.
  const instant enough = asked + std::min<span>(h->left(asked) / 2, settings_.patience);
  const limit until(std::min(l.at(), enough), l.stop());
  bool mine = h->mutex.try_lock();
  if (!mine) mine = co_await h->mutex.try_lock_until(i, until);
  if (!mine) {
    answer =
        storage::answer<instant>::unknown(storage::failure(errc::unreachable, "another renewal is still under way"));
    co_return answer;
  }
  const std::lock_guard ours(h->mutex, std::adopt_lock);
  if (lease->held(i.now())) {
    answer = co_await extend(i, h, ttl, until);
    if (answer.is_yes()) h->change_ttl(ttl);
  }
  co_return answer;
}

}  // namespace holdfast::core
