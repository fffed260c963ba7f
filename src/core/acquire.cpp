#include <algorithm>
#include <utility>

#include "core/cut.hpp"
#include "core/delayed.hpp"
#include "core/engine.hpp"
#include "core/reason.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

namespace {

/// How long an answer may take before its lack is worth telling.
constexpr span usual_answer = std::chrono::milliseconds(20);

}  // namespace

/// We are the one caller of this process that goes to the store for this name. Whatever happens there, the next one is
/// called in, unless we come back with the lock. Readers, takers of permits and those who want several names go alone,
/// and keep nobody waiting.
class engine::in_room {
 public:
  in_room(gate* g, const std::string& name) noexcept : gate_(g), name_(name) {}
  in_room(const in_room&) = delete;
  in_room& operator=(const in_room&) = delete;
  ~in_room() {
    if (gate_ != nullptr && !stays_ && !seeded(bug::failure_keeps_the_room)) gate_->next(name_);
  }
  void stay() noexcept { stays_ = true; }
  void calm() noexcept {
    if (gate_ != nullptr) gate_->calm(name_);
  }
  void trouble(const storage::failure& why) {
    if (gate_ != nullptr) gate_->trouble(name_, why);
  }
  void fail(const storage::failure& why) {
    if (gate_ != nullptr) gate_->fail(name_, why);
  }

 private:
  gate* const gate_;  // null: alone
  const std::string& name_;
  bool stays_ = false;
};

/// One who waits in line. Whatever happens, it is out of the line before it dies; and what it was summoned for, and has
/// not seen yet, goes to the next.
class engine::in_line {
 public:
  in_line(engine& e, const std::string& name, visitor& v) noexcept : engine_(e), name_(name), me_(v) {}
  in_line(const in_line&) = delete;
  in_line& operator=(const in_line&) = delete;
  ~in_line() {
    if (me_.settled || engine_.gate_.leave(name_, me_) || me_.failed) return;
    if (me_.given) {
      engine_.drop(*me_.given);
    } else {
      engine_.gate_.next(name_);
    }
  }

 private:
  engine& engine_;
  const std::string& name_;
  visitor& me_;
};

task<outcome> engine::acquire(io& i, request r) {
  if (closing_.stop_requested() || r.until.stop().stop_requested()) co_return asked_to_stop();
  const instant began = report_.wanted() ? i.now() : instant();
  visitor me(r.on);
  const bool alone = !r.on.wants.exclusive() || !r.others.empty();
  const gate::entry way_in = alone ? gate::entry::head : gate_.enter(r.name, me, !r.one_look);
  if (way_in == gate::entry::busy) {
    std::optional<storage::failure> trouble = gate_.trouble_at(r.name);
    if (!trouble) co_return outcome::busy();
    const instant now = i.now();
    co_return at_limit(std::move(*trouble), is_silent(now, now), r.needs_answer);
  }
  if (way_in == gate::entry::waiting) {
    const in_line place(*this, r.name, me);
    report_.tell(user_, {.what = event::kind::waiting, .name = r.name});
    std::optional<outcome> end = co_await wait_in_line(i, r, me);
    if (end) {
      tell_end(i, r, *end, began);
      co_return std::move(*end);
    }
  }
  in_room room(alone ? nullptr : &gate_, r.name);
  outcome end = co_await ask(i, r, me, room, way_in == gate::entry::waiting);
  if (end.what == outcome::kind::granted) room.stay();
  tell_end(i, r, end, began);
  co_return end;
}

/// Nothing: we were called to ask the store ourselves.
task<std::optional<outcome>> engine::wait_in_line(io& i, const request& r, visitor& me) {
  const cut until(seeded(bug::deaf_in_line) ? limit(runtime::never, r.until.stop()) : r.until, closing_.get_token());
  const instant came = i.now();
  const wake why = co_await wait(i, me.called, until.get());
  const bool left = why != wake::signalled && gate_.leave(r.name, me);
  me.settled = true;
  if (left) {
    if (why == wake::stopped) co_return asked_to_stop();
    // For a moment, a store that is just being asked by another is as good as busy.
    const bool long_enough = i.now() - came >= usual_answer;
    std::optional<storage::failure> trouble = long_enough ? gate_.trouble_at(r.name, me) : gate_.trouble_at(r.name);
    if (!trouble) co_return outcome::busy();
    co_return at_limit(std::move(*trouble), is_silent(came, i.now()), r.needs_answer);
  }
  if (me.failed) co_return outcome::failed(std::move(*me.failed));
  if (me.given) co_return outcome::granted(std::move(me.given));
  if (why == wake::signalled) co_return std::nullopt;
  gate_.next(r.name);  // called in the instant we gave up
  co_return why == wake::stopped ? asked_to_stop() : outcome::busy();
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
    claim = backend_.open(first);
  } else {
    std::vector<storage::claim_spec> all(1 + r.others.size(), first);
    for (std::size_t n = 0; n < r.others.size(); ++n) {
      all[n + 1].name = r.others[n];
      all[n + 1].owner = storage::owner_id::of(i.random(), i.random());
    }
    claim = backend_.open_all(std::move(all));
  }
  if (r.on.delay == milliseconds(0) || seeded(bug::delay_forgotten)) return claim;
  return std::make_unique<delayed>(std::move(claim), r.on.ttl, r.on.delay);
}

task<outcome> engine::ask(io& i, const request& r, visitor& me, in_room& room, bool told) {
  const cut until(r.until, closing_.get_token());
  // One for all tries: an answer that got lost is adopted by the next.
  storage::owner_id owner = storage::owner_id::of(i.random(), i.random());
  std::unique_ptr<storage::claim> claim = open_claim(i, r, owner);
  const instant last = r.one_look && !r.bounded ? runtime::never : r.until.at();
  std::optional<instant> silent_since;
  reason why_not;                    // in the store's own words
  bool heard_no = me.saw_answers();  // just now
  span grace = usual_answer;         // an answer that comes later than usual
  bool known = false;                // the store may have a place or a lock of ours
  outcome end = outcome::busy();
  for (unsigned tries = 0;;) {
    const instant sent = i.now();
    const instant patience_ends = later(silent_since.value_or(sent), settings_.patience);
    const instant cut_at = std::min(last, patience_ends);
    limit for_reply(cut_at, until.get().stop());
    const std::uint64_t cuts = pauses_.cuts();
    storage::answer<storage::grant> answer = storage::answer<storage::grant>::no();
    try {
      answer = co_await claim->poll(i, std::move(for_reply));
    } catch (const std::exception& e) {  // it may have been sent
      answer = storage::answer<storage::grant>::unknown(storage::failure(errc::not_ready, e.what()));
    }
    const instant now = i.now();
    silence_.hear(answer, now);
    if (!answer.is_unknown()) {
      me.answered();
      grace = std::max(grace, 4 * (now - sent));
    }
    if (answer.is_yes() && (now < answer.value().deadline || seeded(bug::stale_grant))) {
      if (silent_since) room.calm();
      co_return take(r, owner, std::move(claim), answer.value(), now);
    }
    known = known || !r.one_look || !answer.is_no();
    if (answer.is_no()) {
      if (silent_since) {
        room.calm();
        why_not.heard();
      } else {
        why_not.forget();
      }
      silent_since.reset();
      heard_no = true;
      tries = 0;
      end = outcome::busy(answer.who().holder);
      if (r.one_look) break;
      if (!std::exchange(told, true)) {
        report_.tell(user_, {.what = event::kind::waiting, .name = r.name, .text = answer.who().holder});
      }
      wake why = wake::late;
      try {
        why = co_await claim->wakeup(i, until.get());
      } catch (const std::exception& e) {  // our place must be given back
        end = outcome::failed(storage::failure(errc::not_ready, e.what()));
      }
      if (why == wake::signalled) continue;
      if (why == wake::stopped) end = asked_to_stop();
      break;
    }
    if (seeded(bug::unknown_is_no)) co_return outcome::busy();
    storage::failure failed =
        answer.is_yes() ? storage::failure::late("the answer took longer than the ttl") : std::move(answer.why());
    if (until.get().stop().stop_requested()) {
      end = asked_to_stop();
      break;
    }
    failed = why_not.after(std::move(failed), now >= cut_at);
    if (!silent_since) silent_since = sent;
    const instant unanswered_since = silence_.since(*silent_since);  // by any call of this process
    const bool out_of_patience = failed.permanent() || now >= later(*silent_since, settings_.patience);
    if (out_of_patience) room.fail(failed);
    const limit pause(std::min({last, later(*silent_since, settings_.patience), later(now, back_off(i, tries++))}),
                      until.get().stop());
    // Without a limit of its own, one look lasts until there is an answer.
    const bool looked = r.one_look && (r.bounded || !failed.is_late);
    wake why = wake::late;
    if (!out_of_patience && !looked && now < last) {
      room.trouble(failed);
      why = co_await pauses_.pause(i, cuts, pause);
    }
    if (why == wake::stopped) {
      end = asked_to_stop();
      break;
    }
    const instant then = i.now();
    if (out_of_patience || looked || then >= last) {
      const bool silent = out_of_patience || is_silent(unanswered_since, then);
      // A limit that ends while a store that has just answered is being asked again: as good as busy.
      const bool as_good_as_busy = heard_no && !out_of_patience && then - *silent_since < grace;
      if (!as_good_as_busy) end = at_limit(std::move(failed), silent, r.needs_answer);
      break;
    }
    if (seeded(bug::new_owner_each_try)) {
      owner = storage::owner_id::of(i.random(), i.random());
      claim = open_claim(i, r, owner);
    }
  }
  if (known && !seeded(bug::limit_keeps_the_place)) spawn(give_back(std::move(claim), r.on.ttl + r.on.delay));
  co_return end;
}

outcome engine::take(const request& r, const storage::owner_id& owner, std::unique_ptr<storage::claim> claim,
                     const storage::grant& grant, instant now) {
  std::shared_ptr<hold> held;
  try {
    std::string name = r.name;  // before the claim goes into it: from then on nothing throws
    terms on = r.on;
    held = std::make_shared<hold>(std::move(name), std::move(on), owner, std::move(claim), grant, now);
    if (!r.others.empty()) (void)held->leave_room();  // nobody waits behind it
    std::shared_ptr<tenancy> lease = hold::seat(held, now);
    keep_from_now(held, now);
    return outcome::granted(std::move(lease));
  } catch (const std::bad_alloc&) {
    if (held && !held->finished()) (void)held->finish();
    spawn(held ? give_back(held) : give_back(std::move(claim), r.on.ttl + r.on.delay));
    return outcome::failed(storage::failure(errc::not_ready, "no memory for a lease"));
  }
}

/// No call of this process has been answered for patience.
bool engine::is_silent(instant unanswered_since, instant now) {
  return now >= later(silence_.since(unanswered_since), settings_.patience);
}

/// A limit has ended, and the last try has failed. The store is in trouble if it said so itself, or is silent.
outcome engine::at_limit(storage::failure why, bool silent, bool needs_answer) const {
  const bool is_trouble = !why.is_late || silent || seeded(bug::short_limit_is_trouble);
  return is_trouble || needs_answer ? outcome::failed(std::move(why)) : outcome::unanswered(std::move(why));
}

outcome engine::asked_to_stop() const {
  return closing_.stop_requested() ? outcome::failed(storage::failure(errc::closed, "")) : outcome::stopped();
}

void engine::tell_end(io& i, const request& r, const outcome& end, instant began) {
  if (!report_.wanted()) return;
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
  report_.tell(user_, e);
}

}  // namespace holdfast::core
