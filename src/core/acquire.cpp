#include <utility>

#include "core/delayed.hpp"
#include "core/engine.hpp"
#include "core/linked_limit.hpp"
#include "runtime/back_off.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::wake;

/// The only caller of this process that asks the store for this name. Whatever happens there, the next waiter is woken,
/// unless this caller keeps its place because it has the lock. Readers, takers of permits and callers that want several
/// names are not in the local queue.
class engine::queue_head {
 public:
  queue_head(local_queue* q, const std::string& name) noexcept : queue_(q), name_(name) {}
  queue_head(const queue_head&) = delete;
  queue_head& operator=(const queue_head&) = delete;
  ~queue_head() {
    if (queue_ != nullptr && !kept_ && !seeded(bug::failure_wakes_no_waiter)) queue_->wake_next(name_);
  }
  void keep() noexcept { kept_ = true; }
  /// Shows the other waiters how the store answers.
  void show(const acquisition& course, acquisition::step next, bool was_silent) {
    if (queue_ == nullptr) return;
    if (was_silent && !course.silent()) queue_->recovered(name_);
    if (next == acquisition::step::pause) queue_->set_failure(name_, course.failure());
  }
  /// Wakes all waiters, because the store has failed.
  void fail(const storage::failure& why) {
    if (queue_ != nullptr) queue_->fail_waiters(name_, why);
  }

 private:
  local_queue* const queue_;  // null if the caller is not in it
  const std::string& name_;
  bool kept_ = false;
};

/// A place in the local queue. The waiter leaves it before it is destroyed. If it was woken and has not seen that, the
/// next one is woken instead.
class engine::queued_waiter {
 public:
  queued_waiter(engine& e, const std::string& name, waiter& w) noexcept : engine_(e), name_(name), me_(w) {}
  queued_waiter(const queued_waiter&) = delete;
  queued_waiter& operator=(const queued_waiter&) = delete;
  ~queued_waiter() {
    if (me_.settled || engine_.queue_.leave(name_, me_) || me_.failed) return;
    if (me_.given) {
      engine_.discard(*me_.given);
    } else {
      engine_.queue_.wake_next(name_);
    }
  }

 private:
  engine& engine_;
  const std::string& name_;
  waiter& me_;
};

task<outcome> engine::acquire(io& i, request r) {
  if (env_.closing.stop_requested() || r.until.stop().stop_requested()) co_return stopped_or_closed();
  const instant began = env_.report.wanted() ? i.now() : instant();
  waiter me(r.on);
  const bool alone = !r.on.wants.exclusive() || !r.others.empty();
  using position = local_queue::position;
  const position at = alone ? position::head : queue_.enter(r.name, me, !r.one_look);
  if (at == position::busy) {
    std::optional<storage::failure> why = queue_.failure_at(r.name);
    if (!why) co_return outcome::busy();
    const instant now = i.now();
    const bool silent = env_.store_silence.exceeds(env_.patience, now, now);
    co_return outcome::at_limit(std::move(*why), silent, r.needs_answer);
  }
  if (at == position::waiting) {
    const queued_waiter place(*this, r.name, me);
    env_.tell({.what = event::kind::waiting, .name = r.name});
    std::optional<outcome> end = co_await wait_in_queue(i, r, me);
    if (end) {
      report_end(i, r, *end, began);
      co_return std::move(*end);
    }
  }
  queue_head head(alone ? nullptr : &queue_, r.name);
  outcome end = co_await ask_store(i, r, me, head, at == position::waiting);
  if (end.what == outcome::kind::granted) head.keep();
  report_end(i, r, end, began);
  co_return end;
}

/// Returns nothing if the caller was woken to ask the store itself.
task<std::optional<outcome>> engine::wait_in_queue(io& i, const request& r, waiter& me) {
  const limit callers = seeded(bug::waiter_ignores_limit) ? limit(runtime::never, r.until.stop()) : r.until;
  const linked_limit until(callers, env_.closing.get_token());
  const instant came = i.now();
  const wake why = co_await wait(i, me.woken, until.get());
  const bool left = why != wake::signalled && queue_.leave(r.name, me);
  me.settled = true;
  if (left) {
    if (why == wake::stopped) co_return stopped_or_closed();
    // A caller that waited for a moment only cannot tell a silent store from one that the head is just asking.
    const bool long_enough = i.now() - came >= usual_reply;
    std::optional<storage::failure> failed = queue_.failure_at(r.name, long_enough ? &me : nullptr);
    if (!failed) co_return outcome::busy();
    const bool silent = env_.store_silence.exceeds(env_.patience, came, i.now());
    co_return outcome::at_limit(std::move(*failed), silent, r.needs_answer);
  }
  if (me.failed) co_return outcome::failed(std::move(*me.failed));
  if (me.given) co_return outcome::granted(std::move(me.given));
  if (why == wake::signalled) co_return std::nullopt;
  queue_.wake_next(r.name);  // woken in the instant when the limit ended
  co_return why == wake::stopped ? stopped_or_closed() : outcome::busy();
}

/// Does what `acquisition` decides. `reported`: the observer knows that the caller waits.
task<outcome> engine::ask_store(io& i, const request& r, waiter& me, queue_head& head, bool reported) {
  using step = acquisition::step;
  const linked_limit until(r.until, env_.closing.get_token());
  const std::stop_token stop = until.get().stop();
  // One owner for all polls: if a lost reply has granted the lock, the next poll adopts it.
  storage::owner_id owner = storage::owner_id::of(i.random(), i.random());
  std::unique_ptr<storage::claim> claim = open_claim(i, r, owner);
  acquisition course(r, env_.patience, env_.store_silence, me.saw_answers());
  for (step next = step::poll; next != step::leave;) {
    limit for_reply(course.on_send(i.now()), stop);
    const std::uint64_t cuts = backoff_.cuts();
    storage::answer<storage::grant> answer = storage::answer<storage::grant>::no();
    try {
      answer = co_await claim->poll(i, std::move(for_reply));
    } catch (const std::exception& e) {  // the request may have been sent
      answer = storage::answer<storage::grant>::unknown(storage::failure(errc::not_ready, e.what()));
    }
    const instant now = i.now();
    const bool was_silent = course.silent();
    if (!answer.is_unknown()) me.note_answer();
    next = course.on_answer(answer, now, stop.stop_requested());
    if (next == step::unanswered) {
      if (course.out_of_patience()) head.fail(course.failure());
      next = course.on_unanswered(now, back_off(i, course.tries()));
    }
    head.show(course, next, was_silent);
    if (next == step::granted) co_return take(r, owner, std::move(claim), answer.value(), now);
    if (next == step::leave) break;
    if (next == step::wait && !std::exchange(reported, true)) {
      env_.tell({.what = event::kind::waiting, .name = r.name, .text = answer.who().holder});
    }
    try {
      next = co_await wait_for_next_step(i, course, next, *claim, cuts, until.get());
    } catch (const std::exception& e) {  // the claim has to be released
      next = course.on_error(storage::failure(errc::not_ready, e.what()));
    }
    if (next == step::poll && course.silent() && seeded(bug::new_owner_each_try)) {
      owner = storage::owner_id::of(i.random(), i.random());
      claim = open_claim(i, r, owner);
    }
  }
  const bool release = course.may_be_known() && !seeded(bug::limit_leaks_the_claim);
  if (release) spawn(retry_release(std::move(claim), r.on.ttl + r.on.delay));
  co_return course.end().what == outcome::kind::stopped ? stopped_or_closed() : std::move(course.end());
}

task<acquisition::step> engine::wait_for_next_step(io& i, acquisition& course, acquisition::step what,
                                                   storage::claim& claim, std::uint64_t cuts, limit until) {
  if (what == acquisition::step::pause) {
    const limit pause(course.pause_ends(), until.stop());
    const wake paused = co_await backoff_.pause(i, cuts, pause);
    co_return course.on_pause(paused, i.now());
  }
  const wake woken = co_await claim.wakeup(i, until);
  co_return course.on_wakeup(woken);
}

std::unique_ptr<storage::claim> engine::open_claim(io& i, const request& r, const storage::owner_id& owner) {
  const storage::claim_spec first{.name = r.name,
                                  .owner = owner,
                                  .wants = r.on.wants,
                                  .ttl = r.on.ttl + r.on.delay,
                                  .delay = r.on.delay,
                                  .fixed = !r.on.renew,
                                  .queue = !r.one_look,
                                  .barges = !r.on.fair && r.on.wants.exclusive(),
                                  .label = r.on.label};
  std::unique_ptr<storage::claim> claim;
  if (r.others.empty()) {
    claim = env_.backend.open(first);
  } else {
    std::vector<storage::claim_spec> all(1 + r.others.size(), first);
    for (std::size_t n = 0; n < r.others.size(); ++n) {
      all[n + 1].name = r.others[n];
      all[n + 1].owner = storage::owner_id::of(i.random(), i.random());
    }
    claim = env_.backend.open_all(std::move(all));
  }
  if (r.on.delay == milliseconds(0) || seeded(bug::delay_forgotten)) return claim;
  return std::make_unique<delayed>(std::move(claim), r.on.ttl, r.on.delay);
}

outcome engine::take(const request& r, const storage::owner_id& owner, std::unique_ptr<storage::claim> claim,
                     const storage::grant& grant, instant now) {
  std::shared_ptr<holding> held;
  try {
    std::string name = r.name;  // before the claim is moved: from then on nothing throws
    terms on = r.on;
    held = std::make_shared<holding>(std::move(name), std::move(on), owner, std::move(claim), grant, now);
    if (!r.others.empty()) (void)held->leave_queue();  // it never was in one
    std::shared_ptr<lease_state> lease = holding::new_lease(held, now);
    renewer_.add(held, now);
    return outcome::granted(std::move(lease));
  } catch (const std::bad_alloc&) {
    if (held && !held->finished()) (void)held->finish();
    spawn(held ? retry_release(held) : retry_release(std::move(claim), r.on.ttl + r.on.delay));
    return outcome::failed(storage::failure(errc::not_ready, "no memory for a lease"));
  }
}

outcome engine::stopped_or_closed() const {
  return env_.closing.stop_requested() ? outcome::failed(storage::failure(errc::closed, "")) : outcome::stopped();
}

void engine::report_end(io& i, const request& r, const outcome& end, instant began) {
  if (!env_.report.wanted()) return;
  event e{.what = event::kind::left, .name = r.name, .took = i.now() - began};
  if (end.what == outcome::kind::granted) {
    e.what = event::kind::acquired;
    e.fence = end.lease->fence();
  } else if (end.why) {
    e.why = end.why->code;
    e.text = end.why->text;
  } else {
    e.text = end.holder;
  }
  env_.tell(e);
}

}  // namespace holdfast::core
