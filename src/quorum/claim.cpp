#include "quorum/claim.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "runtime/back_off.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::quorum {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::later;
using runtime::span;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::failure;
using storage::grant;
using storage::io;
using storage::milliseconds;
using storage::task;
using storage::vote;

namespace {

/// If too few voters answer in time, perhaps because this machine is busy, the poll retries for this long.
constexpr span longest_poll = 1s;
constexpr unsigned max_split_retries = 5;

/// A random duration between `least` and twice that.
span varied(io& i, span least) {
  return least + span(static_cast<span::rep>(i.random() % static_cast<std::uint64_t>(least.count() + 1)));
}

failure too_late() { return failure::late("the answer took longer than the ttl"); }

failure too_long(milliseconds ttl, milliseconds max_ttl) {
  return failure(errc::bad_option, "a ttl of " + std::to_string(ttl.count()) + " ms (with its delay) is longer than " +
                                       std::to_string(max_ttl.count()) +
                                       " ms, the max_ttl of this store; all who use it have to agree on that");
}

}  // namespace

client::claim::claim(client& q, storage::claim_spec spec)
    : settings_(q.settings_), all_(q.all_), spec_(std::move(spec)) {
  if (!spec_.queue) return;
  for (const auto& each : all_.voters()) watches_.push_back(each->watch(spec_.name, may_be_free_));
}

task<answer<grant>> client::claim::poll(io& i, limit l) {
  if (!spec_.wants.exclusive()) co_return answer<grant>::unknown(storage::only_whole_locks());
  if (spec_.ttl > settings_.max_ttl) co_return answer<grant>::unknown(too_long(spec_.ttl, settings_.max_ttl));
  if (i.in_place()) co_return all_.on_loop(poll(all_.loop(), std::move(l)));
  if (elected_) {  // the reply to an earlier poll was lost
    answer<instant> kept = co_await renew(all_.loop(), spec_.ttl, l);
    if (kept.is_yes()) co_return answer<grant>::yes(grant{last_->fence, vote::fences, kept.value()});
    if (kept.is_unknown()) co_return answer<grant>::unknown(std::move(kept.why()));
    give_up();
  }
  const instant enough = later(all_.loop().now(), longest_poll);
  std::optional<failure> reason;  // from the previous attempt, because an attempt that was cut short says less
  for (unsigned tries = 0;; ++tries) {
    std::optional<failure> unreached = co_await all_.reach_majority(settings_.min_margin, l);
    if (unreached) co_return answer<grant>::unknown(std::move(*unreached));
    answer<grant> got = co_await run_for_it(l);
    const instant now = all_.loop().now();
    // A caller that does not queue retries before it reports a lock as held that no client has a majority of.
    const bool split = got.is_no() && splits_ != 0 && !spec_.queue && tries < max_split_retries && now < l.at();
    if (!got.is_unknown() && !split) co_return got;
    if (got.is_unknown() && reason && now >= l.at()) co_return answer<grant>::unknown(std::move(*reason));
    if (got.is_unknown()) {
      if (got.why().code != errc::unreachable || now >= std::min(enough, l.at())) co_return got;
      reason = got.why();
    }
    const limit pause(std::min(l.at(), later(now, back_off(all_.loop(), tries))), l.stop());
    const wake why = co_await sleep(all_.loop(), pause);
    if (why == wake::stopped || all_.loop().now() >= l.at()) co_return got;
  }
}
// On the loop, because signals arrive there.
task<wake> client::claim::wakeup(io& i, limit l) {
  io& loop = all_.loop();
  if (i.in_place()) co_return all_.on_loop(wakeup(loop, std::move(l)));
  const limit nearer(std::min(l.at(), again_at_), l.stop());
  const wake why = co_await wait(loop, may_be_free_, nearer);
  if (why == wake::late) co_return again_at_ < l.at() ? wake::signalled : why;
  if (why == wake::stopped) co_return why;
  const limit a_moment(std::min(l.at(), later(loop.now(), varied(loop, 1ms))), l.stop());
  const wake slept = co_await sleep(loop, a_moment);
  co_return slept == wake::stopped ? slept : wake::signalled;
}

task<answer<grant>> client::claim::run_for_it(limit l) {
  io& loop = all_.loop();
  const std::uint64_t today = settings_.clock();
  if (waits_since_ == 0) waits_since_ = today;
  const instant sent = loop.now();
  storage::candidate me{.name = spec_.name,
                        .owner = spec_.owner,
                        .attempt = ++attempts_,
                        .ttl = spec_.ttl,
                        .label = spec_.label,
                        .proposed = today,
                        .waits = spec_.queue,
                        .since = waits_since_};
  const auto a = std::make_shared<attempt>(std::move(me), all_.size(), leaves_);
  last_ = a;
  *leaves_ = false;
  leaving_.reset();
  const limit each = all_.until(later(sent, limit_of_a_vote(spec_.ttl)));
  a->votes = all_.ask_all<vote>([&](std::size_t who) { return quorum::ask(all_, a, who, each); }, settings_.min_margin);
  const verdict so = co_await a->votes->settle(loop, of_election, l);
  if (so == verdict::unknown && settings_.min_margin != 0) {
    const verdict without_margin = co_await a->votes->settle(loop, of_step, l);
    (void)without_margin;  // it only completes the error
  }
  if (so == verdict::yes) {
    std::optional<failure> unfenced = co_await agree_on_a_fence(a, l);
    const instant from = seeded(bug::validity_from_the_reply) ? loop.now() : sent;
    const instant deadline = storage::deadline_after(from, spec_.ttl * (seeded(bug::ttls_added_up) ? 2 : 1));
    if (!unfenced && loop.now() < deadline) {
      elected_ = true;
      a->elected = true;
      a->ends = deadline;
      for (std::size_t who = 0; who < all_.size(); ++who) {
        const std::optional<answer<vote>>& got = a->votes->replies()[who];
        if (got && got->is_unknown()) repair_soon(all_, a, who);
      }
      co_return answer<grant>::yes(grant{a->fence, vote::fences, deadline});
    }
    roll_back(all_, a);
    co_return answer<grant>::unknown(unfenced ? std::move(*unfenced) : too_late());
  }
  roll_back(all_, a);
  if (so == verdict::no) co_return busy(*a, sent);
  if (a->votes->count().yes >= all_.majority()) co_return answer<grant>::unknown(too_small_a_margin(*a));
  co_return answer<grant>::unknown(all_.why_not(*a->votes, "no majority of the servers votes"));
}

task<std::optional<failure>> client::claim::agree_on_a_fence(std::shared_ptr<attempt> a, limit l) {
  std::size_t times = 0;
  for (std::optional<answer<vote>>& got : a->votes->replies()) {
    if (!got || !got->is_yes() || got->value().fence < std::max<std::uint64_t>(a->fence, 1)) continue;
    times = got->value().fence == a->fence ? times + 1 : 1;
    a->fence = got->value().fence;
  }
  if (times >= all_.majority() || seeded(bug::fences_not_written_back)) co_return std::nullopt;
  const limit each = all_.until(later(all_.loop().now(), limit_of_a_vote(spec_.ttl)));
  const round_ptr<done> written =
      all_.ask_all<done>([&](std::size_t who) { return quorum::raise_fence(all_, a, who, each); });
  const verdict so = co_await written->settle(all_.loop(), of_step, l);
  if (so == verdict::yes) co_return std::nullopt;
  co_return all_.why_not(*written, "no majority of the servers keeps the fence");
}

answer<grant> client::claim::busy(attempt& a, instant sent) {
  io& loop = all_.loop();
  std::map<std::string_view, std::size_t> held_by;
  std::size_t most = 0;
  std::string label;
  milliseconds again = 1h;
  for (std::optional<answer<vote>>& got : a.votes->replies()) {
    if (!got || !got->is_yes() || got->value().fence != 0) continue;
    const vote& other = got->value();
    again = std::min(again, other.again);
    const std::size_t times = ++held_by[other.holder];
    if (times <= most) continue;
    most = times;
    label = other.label;
  }
  if (most >= all_.majority()) {
    splits_ = 0;
    const span pause = std::max<span>(again, 5ms);
    again_at_ = later(sent, pause + varied(loop, pause / 8));
  } else {
    again_at_ = later(loop.now(), back_off(loop, splits_++));
  }
  return answer<grant>::no({std::move(label)});
}

// By a true majority. Servers that have lost it, or may have, get it again only then: a minority never creates a lock.
task<answer<instant>> client::claim::renew(io& i, milliseconds ttl, limit l) {
  if (ttl > settings_.max_ttl) co_return answer<instant>::unknown(too_long(ttl, settings_.max_ttl));
  io& loop = all_.loop();
  if (i.in_place()) co_return all_.on_loop(renew(loop, ttl, std::move(l)));
  if (!elected_) co_return answer<instant>::no();
  const std::shared_ptr<attempt> a = last_;
  a->longest_ttl = std::max(a->longest_ttl, ttl);
  const std::uint64_t number = ++a->renewals;
  const instant sent = loop.now();
  const limit each = all_.until(l.at());
  const round_ptr<done> all =
      all_.ask_all<done>([&](std::size_t who) { return quorum::renew(all_, a, who, ttl, number, each); });
  verdict so = co_await all->settle(loop, of_step, l);
  if (seeded(bug::minority_makes_it_again) && all->count().yes > 0) so = verdict::yes;
  if (so == verdict::no) co_return answer<instant>::no();
  if (so != verdict::yes) {
    co_return answer<instant>::unknown(all_.why_not(*all, "no majority of the servers renews"));
  }
  const instant deadline = storage::deadline_after(sent, ttl);
  a->renewed = number;
  a->ends = std::max(a->ends, deadline);
  for (std::size_t who = 0; who < all_.size(); ++who) {
    const std::optional<answer<done>>& got = all->replies()[who];
    if (got && !got->is_yes()) repair_soon(all_, a, who);
  }
  co_return answer<instant>::yes(deadline);
}

task<answer<done>> client::claim::release(io& i, limit l) {
  if (i.in_place()) co_return all_.on_loop(release(all_.loop(), std::move(l)));
  if (!last_) {
    storage::busy not_asked;
    not_asked.asked = false;
    co_return answer<done>::no(std::move(not_asked));
  }
  if (!leaving_) {
    *leaves_ = true;
    const std::shared_ptr<attempt> a = last_;
    // Set before the withdrawals start: a vote that is repaired from now on would stay.
    a->withdrawals = leaving_ = std::make_shared<vote_round<done>>(all_.size());
    elected_ = false;
    try {
      for (std::size_t who = 0; who < all_.size(); ++who) {
        all_.begin(put_into<done>(leaving_, who, quorum::withdraw(all_, a, who)));
      }
    } catch (const std::bad_alloc&) {
      leaving_.reset();  // some have not started and would be waited for
      throw;
    }
  }
  // A server that is down need not be waited for: the lock is released once a majority no longer has our vote.
  const instant soon = later(all_.loop().now(), limit_of_a_vote(spec_.ttl));
  verdict so = co_await leaving_->settle(all_.loop(), of_step, limit(std::min(l.at(), soon), l.stop()));
  const tally& count = leaving_->count();
  const bool given_back = count.yes > 0 && count.yes + count.no >= all_.majority();
  if (so == verdict::open && !given_back) so = co_await leaving_->settle(all_.loop(), of_step, l);
  if (so == verdict::yes || (so != verdict::no && given_back)) co_return answer<done>::yes(done());
  if (so == verdict::no) co_return answer<done>::no();
  failure why = all_.why_not(*leaving_, "no majority of the servers gives it back");
  if (so == verdict::unknown) leaving_.reset();  // every withdrawal has ended: the next call starts again
  co_return answer<done>::unknown(std::move(why));
}

failure client::claim::too_small_a_margin(attempt& a) const {
  const std::string needed = std::to_string(all_.majority() + settings_.min_margin);
  failure why = all_.why_not(*a.votes, std::to_string(a.votes->count().yes) + " of the " + needed +
                                           " servers that a min_margin of " + std::to_string(settings_.min_margin) +
                                           " needs gave the lock (start the others, or lower min_margin in the URL)");
  return why.permanent() ? why : failure(errc::not_ready, std::move(why.text));
}

/// An elected attempt stays the last one while the lease lasts.
std::size_t client::claim::margin() const noexcept {
  const std::size_t holding = last_ ? last_->holding() : 0;
  return std::max(holding, all_.majority()) - all_.majority();
}

void client::claim::give_up() {
  elected_ = false;
  leaving_.reset();
  roll_back(all_, last_);
}

}  // namespace holdfast::quorum
