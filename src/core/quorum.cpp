#include "core/quorum.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "core/back_off.hpp"
#include "runtime/turn.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::later;
using runtime::span;
using runtime::wake;
using seam::answer;
using seam::done;
using seam::failure;
using seam::grant;
using seam::io;
using seam::milliseconds;
using seam::task;
using seam::vote;

namespace {

/// A voter that takes longer has voted against us. Small against the ttl, so that the next attempt comes soon.
span limit_of_a_vote(milliseconds ttl) { return std::clamp<span>(span(ttl) / 20, 5ms, 50ms); }

/// Where too few could be heard in that time, perhaps because this machine is busy, it is tried again for so long.
constexpr span longest_poll = 1s;
constexpr unsigned most_looks = 5;
constexpr span longest_connect = 2s;
/// One request of many, when there is no hurry.
constexpr span one_request = 1s;

/// How many fences come with a vote: seam::vote.
constexpr std::uint64_t fences_in_a_block = 64;

/// Between so much and twice as much.
span varied(io& i, span least) {
  return least + span(static_cast<span::rep>(i.random() % static_cast<std::uint64_t>(least.count() + 1)));
}

failure too_late() { return failure(errc::unreachable, "the answer took longer than the ttl"); }

}  // namespace

/// Votes that were asked for under one number. It lives as long as anybody has something to do for it.
struct quorum::attempt : seam::candidate {
  attempt(seam::candidate who, std::size_t voters) : candidate(std::move(who)), turns(voters), longest_ttl(ttl) {}
  std::vector<runtime::turn> turns;  // at each voter one step after the other: none overtakes another
  round_of<vote> votes;
  round_of<done> withdrawals;  // where it was given back
  std::uint64_t fence = 0;     // of its grant
  bool elected = false;
  milliseconds longest_ttl;  // that was ever asked for
};

quorum::quorum(std::vector<std::unique_ptr<seam::voter>> voters, settings s, io& home)
    : settings_(std::move(s)), home_(home), voters_(std::move(voters)), tasks_(home) {}

template <class T>
task<T> quorum::at_home(io& i, task<T> work) {
  if (!i.in_place()) {
    T got = co_await work;
    co_return got;
  }
  struct hand_over {
    std::optional<T> got;
    std::exception_ptr error;
    runtime::signal over;
    static task<void> run(hand_over& to, task<T> work) {
      try {
        T got = co_await work;
        to.got.emplace(std::move(got));
      } catch (...) {
        to.error = std::current_exception();
      }
      to.over.set();
    }
  } there;
  tasks_.spawn(hand_over::run(there, std::move(work)));
  const wake why = co_await wait(i, there.over);
  (void)why;  // the work has the caller's limit
  if (there.error) std::rethrow_exception(there.error);
  co_return std::move(*there.got);
}

namespace {

template <class T>
bool is_for_us(const answer<T>&) {
  return true;
}
bool is_for_us(answer<vote>& got) { return !got.is_yes() || got.value().fence != 0; }

template <class T>
task<void> put_into(std::shared_ptr<round<T>> all, std::size_t who, task<answer<T>> work) {
  answer<T> got = answer<T>::no();
  try {
    got = co_await work;
  } catch (const std::exception& e) {  // it may have been sent
    got = answer<T>::unknown(failure(errc::not_ready, e.what()));
  }
  const bool for_us = is_for_us(got);
  all->put(who, std::move(got), for_us);
}

}  // namespace

template <class T, class Ask>
quorum::round_of<T> quorum::ask_all(Ask ask) {
  auto all = std::make_shared<round<T>>(voters_.size());
  for (std::size_t who = 0; who < voters_.size(); ++who) tasks_.spawn(put_into<T>(all, who, ask(who)));
  return all;
}

/// All that went wrong, server by server. Where asking again cannot help, the code says so.
template <class T>
failure quorum::why_not(round<T>& all, std::string_view what) const {
  std::size_t for_good = 0;
  std::optional<errc> code, for_good_code;
  std::string text(what);
  std::size_t told = 0;
  for (std::size_t who = 0; who < voters_.size(); ++who) {
    std::optional<answer<T>>& got = all.replies()[who];
    if (!got || !got->is_unknown()) continue;
    const failure& why = got->why();
    if (why.permanent()) {
      ++for_good;
      for_good_code = why.code;
    }
    if (!code || why.code == errc::unreachable) code = why.code;
    text.append(told++ == 0 ? ": " : "; ").append(voters_[who]->where()).append(": ").append(why.text);
  }
  if (told == 0) text.append(": no answer in time");
  if (for_good > voters_.size() - majority()) return failure(*for_good_code, std::move(text));
  if (code && failure(*code, "").permanent()) code = errc::not_ready;
  return failure(code.value_or(errc::unreachable), std::move(text));
}

// Steps at one voter.

task<answer<done>> quorum::reach(std::size_t who, limit l) {
  const std::optional<failure> why = co_await voters_[who]->reach(home_, l);
  if (why) co_return answer<done>::unknown(*why);
  co_return answer<done>::yes(done());
}

task<answer<vote>> quorum::ask(std::shared_ptr<attempt> a, std::size_t who, limit l) {
  const bool mine = co_await a->turns[who].enter(home_, l);
  if (!mine) co_return answer<vote>::unknown(failure(errc::unreachable, "not asked"));
  const runtime::taken_turn ours(a->turns[who]);
  answer<vote> got = co_await voters_[who]->ask(home_, *a, l);
  if (got.is_unknown() && a->elected) mend_soon(a, who, a->ttl);
  co_return got;
}

task<answer<done>> quorum::raise(std::shared_ptr<attempt> a, std::size_t who, limit l) {
  const bool mine = co_await a->turns[who].enter(home_, l);
  if (!mine) co_return answer<done>::unknown(failure(errc::unreachable, "not asked"));
  const runtime::taken_turn ours(a->turns[who]);
  answer<done> got = co_await voters_[who]->raise(home_, *a, a->fence, l);
  co_return got;
}

task<answer<done>> quorum::renew(std::shared_ptr<attempt> a, std::size_t who, milliseconds ttl, limit l) {
  const bool mine = co_await a->turns[who].enter(home_, l);
  if (!mine) co_return answer<done>::unknown(failure(errc::unreachable, "a step before is still under way"));
  const runtime::taken_turn ours(a->turns[who]);
  answer<done> got = co_await voters_[who]->renew(home_, *a, ttl, l);
  co_return got;
}

/// The more have it, the more of them may lose it.
void quorum::mend_soon(const std::shared_ptr<attempt>& a, std::size_t who, milliseconds ttl) {
  tasks_.spawn(mend(a, who, ttl, until(later(home_.now(), std::min<span>(span(ttl) / 4, longest_connect)))));
}

task<void> quorum::mend(std::shared_ptr<attempt> a, std::size_t who, milliseconds ttl, limit l) {
  const bool mine = co_await a->turns[who].enter(home_, l);
  if (!mine) co_return;
  const runtime::taken_turn ours(a->turns[who]);
  if (a->withdrawals) co_return;
  const answer<done> got = co_await voters_[who]->mend(home_, *a, a->fence, ttl, l);
  (void)got;  // if not now, then at the next renewal
}

/// Insists, for as long as the vote could last. Then it is over by itself.
task<answer<done>> quorum::withdraw(std::shared_ptr<attempt> a, std::size_t who, bool leaves) {
  const instant end = later(home_.now(), a->longest_ttl);
  const bool mine = co_await a->turns[who].enter(home_, limit(runtime::never));
  (void)mine;  // what is before us has limits
  const runtime::taken_turn ours(a->turns[who]);
  answer<done> got = answer<done>::no();
  for (unsigned tries = 0;; ++tries) {
    const limit once(later(home_.now(), one_request));
    got = co_await voters_[who]->withdraw(home_, *a, leaves, once);
    const instant now = home_.now();
    if (!got.is_unknown() || now >= end || ending_.stop_requested()) co_return got;
    const wake why = co_await sleep(home_, until(later(now, back_off(home_, tries))));
    if (why == wake::stopped) co_return got;
  }
}

void quorum::roll_back(const std::shared_ptr<attempt>& a) {
  a->withdrawals = std::make_shared<round<done>>(voters_.size());
  for (std::size_t who = 0; who < voters_.size(); ++who) {
    std::optional<answer<vote>>& got = a->votes->replies()[who];
    if (got && got->is_yes() && got->value().fence == 0) continue;  // it is another's, and will not come
    tasks_.spawn(put_into<done>(a->withdrawals, who, withdraw(a, who, false)));
  }
}

/// Until as many are connected as there must be; or why they are not.
task<std::optional<failure>> quorum::reach_majority(limit l) {
  const auto reached = [](const auto& v) { return v->is_reached(); };
  const auto already = static_cast<std::size_t>(std::count_if(voters_.begin(), voters_.end(), reached));
  if (already >= majority()) co_return std::nullopt;
  const instant enough = std::min(l.at(), later(home_.now(), longest_connect));
  const limit each(enough, ending_.get_token());
  const round_of<done> all = ask_all<done>([&](std::size_t who) { return reach(who, each); });
  const verdict so = co_await all->settle(home_, of_step, l);
  if (so == verdict::yes) co_return std::nullopt;
  co_return why_not(*all, "no majority of the servers can be reached");
}

/// A claim: attempt after attempt, until one of them is elected.
class quorum::place final : public seam::claim {
 public:
  place(quorum& q, seam::claim_spec spec) : quorum_(q), spec_(std::move(spec)) {
    if (!spec_.queue) return;
    for (const auto& each : quorum_.voters_) each->watch(spec_.name, told_);
  }
  ~place() override {
    if (!spec_.queue) return;
    for (const auto& each : quorum_.voters_) each->unwatch(spec_.name, told_);
  }

  task<answer<grant>> poll(io& i, limit l) override {
    if (!spec_.wants.exclusive()) co_return answer<grant>::unknown(seam::only_whole_locks());
    if (spec_.ttl > quorum_.settings_.max_ttl) co_return answer<grant>::unknown(too_long(spec_.ttl));
    answer<grant> got = co_await quorum_.at_home(i, poll_here(std::move(l)));
    co_return got;
  }

  /// Whoever is told waits for a moment: the others are about to say the same.
  task<wake> wakeup(io& i, limit l) override {
    const limit nearer(std::min(l.at(), again_at_), l.stop());
    const wake why = co_await wait(i, told_, nearer);
    if (why == wake::late) co_return again_at_ < l.at() ? wake::signalled : why;
    if (why == wake::stopped) co_return why;
    const limit a_moment(std::min(l.at(), later(i.now(), varied(i, 1ms))), l.stop());
    const wake slept = co_await sleep(i, a_moment);
    co_return slept == wake::stopped ? slept : wake::signalled;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    if (ttl > quorum_.settings_.max_ttl) co_return answer<instant>::unknown(too_long(ttl));
    answer<instant> got = co_await quorum_.at_home(i, renew_here(ttl, std::move(l)));
    co_return got;
  }

  task<answer<done>> release(io& i, limit l) override {
    answer<done> got = co_await quorum_.at_home(i, release_here(std::move(l)));
    co_return got;
  }

 private:
  [[nodiscard]] failure too_long(milliseconds ttl) const {
    return failure(errc::bad_option, "a ttl of " + std::to_string(ttl.count()) +
                                         " ms (with its delay) is longer than " +
                                         std::to_string(quorum_.settings_.max_ttl.count()) +
                                         " ms, the max_ttl of this store; all who use it have to agree on that");
  }

  task<answer<grant>> poll_here(limit l) {
    if (elected_) {  // the answer to an earlier poll got lost
      answer<instant> kept = co_await renew_here(spec_.ttl, l);
      if (kept.is_yes()) co_return answer<grant>::yes(grant{last_->fence, fences_in_a_block, kept.value()});
      if (kept.is_unknown()) co_return answer<grant>::unknown(std::move(kept.why()));
      give_up();
    }
    const instant enough = later(quorum_.home_.now(), longest_poll);
    std::optional<failure> reason;  // of the attempt before: one that was cut short says less
    for (unsigned tries = 0;; ++tries) {
      std::optional<failure> unreached = co_await quorum_.reach_majority(l);
      if (unreached) co_return answer<grant>::unknown(std::move(*unreached));
      answer<grant> got = co_await run_for_it(l);
      const instant now = quorum_.home_.now();
      // Who looks once is not told that somebody holds what nobody has a majority of, before it is seen to stay so.
      const bool nobodys = got.is_no() && splits_ != 0 && !spec_.queue && tries < most_looks && now < l.at();
      if (!got.is_unknown() && !nobodys) co_return got;
      if (got.is_unknown() && reason && now >= l.at()) co_return answer<grant>::unknown(std::move(*reason));
      if (got.is_unknown()) {
        if (got.why().code != errc::unreachable || now >= std::min(enough, l.at())) co_return got;
        reason = got.why();
      }
      const limit pause(std::min(l.at(), later(now, back_off(quorum_.home_, tries))), l.stop());
      const wake why = co_await sleep(quorum_.home_, pause);
      if (why == wake::stopped || quorum_.home_.now() >= l.at()) co_return got;
    }
  }

  /// One attempt.
  task<answer<grant>> run_for_it(limit l) {
    io& home = quorum_.home_;
    const std::uint64_t today = quorum_.settings_.clock();
    if (waits_since_ == 0) waits_since_ = today;
    const instant sent = home.now();
    seam::candidate me{.name = spec_.name,
                       .owner = spec_.owner,
                       .attempt = ++attempts_,
                       .ttl = spec_.ttl,
                       .label = spec_.label,
                       .proposed = today,
                       .waits = spec_.queue,
                       .since = waits_since_};
    const auto a = std::make_shared<attempt>(std::move(me), quorum_.voters_.size());
    last_ = a;
    leaving_.reset();
    const limit each = quorum_.until(later(sent, limit_of_a_vote(spec_.ttl)));
    a->votes = quorum_.ask_all<vote>([&](std::size_t who) { return quorum_.ask(a, who, each); });
    const verdict so = co_await a->votes->settle(home, of_election, l);
    if (so == verdict::yes) {
      std::optional<failure> unfenced = co_await agree_on_a_fence(a, l);
      const instant deadline = seam::deadline_after(sent, spec_.ttl);
      if (!unfenced && home.now() < deadline) {
        elected_ = true;
        a->elected = true;
        for (std::size_t who = 0; who < quorum_.voters_.size(); ++who) {
          const std::optional<answer<vote>>& got = a->votes->replies()[who];
          if (got && got->is_unknown()) quorum_.mend_soon(a, who, a->ttl);
        }
        co_return answer<grant>::yes(grant{a->fence, fences_in_a_block, deadline});
      }
      quorum_.roll_back(a);
      co_return answer<grant>::unknown(unfenced ? std::move(*unfenced) : too_late());
    }
    quorum_.roll_back(a);
    if (so == verdict::no) co_return busy(*a, sent);
    co_return answer<grant>::unknown(quorum_.why_not(*a->votes, "no majority of the servers votes"));
  }

  /// The highest that was named, once a majority will never go below it: if not so many have named it, it is written
  /// back to them.
  task<std::optional<failure>> agree_on_a_fence(std::shared_ptr<attempt> a, limit l) {
    std::size_t times = 0;
    for (std::optional<answer<vote>>& got : a->votes->replies()) {
      if (!got || !got->is_yes() || got->value().fence < std::max<std::uint64_t>(a->fence, 1)) continue;
      times = got->value().fence == a->fence ? times + 1 : 1;
      a->fence = got->value().fence;
    }
    if (times >= quorum_.majority()) co_return std::nullopt;
    const limit each = quorum_.until(later(quorum_.home_.now(), limit_of_a_vote(spec_.ttl)));
    const round_of<done> written = quorum_.ask_all<done>([&](std::size_t who) { return quorum_.raise(a, who, each); });
    const verdict so = co_await written->settle(quorum_.home_, of_step, l);
    if (so == verdict::yes) co_return std::nullopt;
    co_return quorum_.why_not(*written, "no majority of the servers keeps the fence");
  }

  /// If one has a majority, it holds the lock, and somebody tells us when it is free. Else several stand in each
  /// other's way: whoever draws the shorter pause is first the next time.
  answer<grant> busy(attempt& a, instant sent) {
    io& home = quorum_.home_;
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
    if (most >= quorum_.majority()) {
      splits_ = 0;
      const span pause = std::max<span>(again, 5ms);
      again_at_ = later(sent, pause + varied(home, pause / 8));
    } else {
      again_at_ = later(home.now(), back_off(home, splits_++));
    }
    return answer<grant>::no({std::move(label)});
  }

  /// By a true majority. Those that have lost it get it again only then: a minority never makes a lock anew.
  task<answer<instant>> renew_here(milliseconds ttl, limit l) {
    if (!elected_) co_return answer<instant>::no();
    io& home = quorum_.home_;
    const std::shared_ptr<attempt> a = last_;
    a->longest_ttl = std::max(a->longest_ttl, ttl);
    const instant sent = home.now();
    const limit each = quorum_.until(l.at());
    const round_of<done> all = quorum_.ask_all<done>([&](std::size_t who) { return quorum_.renew(a, who, ttl, each); });
    const verdict so = co_await all->settle(home, of_step, l);
    if (so == verdict::no) co_return answer<instant>::no();
    if (so != verdict::yes) {
      co_return answer<instant>::unknown(quorum_.why_not(*all, "no majority of the servers renews"));
    }
    for (std::size_t who = 0; who < quorum_.voters_.size(); ++who) {
      const std::optional<answer<done>>& got = all->replies()[who];
      if (got && got->is_no()) quorum_.mend_soon(a, who, ttl);
    }
    co_return answer<instant>::yes(seam::deadline_after(sent, ttl));
  }

  task<answer<done>> release_here(limit l) {
    if (!last_) co_return answer<done>::no();
    if (!leaving_) {
      const std::shared_ptr<attempt> a = last_;
      leaving_ = quorum_.ask_all<done>([&](std::size_t who) { return quorum_.withdraw(a, who, true); });
      a->withdrawals = leaving_;
      elected_ = false;
    }
    // A server that is gone need not be waited for: if a majority has nothing of ours any more, it is given back.
    const instant soon = later(quorum_.home_.now(), limit_of_a_vote(spec_.ttl));
    verdict so = co_await leaving_->settle(quorum_.home_, of_step, limit(std::min(l.at(), soon), l.stop()));
    const tally& count = leaving_->count();
    const bool given_back = count.yes > 0 && count.yes + count.no >= quorum_.majority();
    if (so == verdict::open && !given_back) so = co_await leaving_->settle(quorum_.home_, of_step, l);
    if (so == verdict::yes || (so != verdict::no && given_back)) co_return answer<done>::yes(done());
    if (so == verdict::no) co_return answer<done>::no();
    failure why = quorum_.why_not(*leaving_, "no majority of the servers gives it back");
    if (so == verdict::unknown) leaving_.reset();  // all is over: again
    co_return answer<done>::unknown(std::move(why));
  }

  void give_up() {
    elected_ = false;
    leaving_.reset();
    quorum_.roll_back(last_);
  }

  quorum& quorum_;
  const seam::claim_spec spec_;
  runtime::signal told_;           // it may be free
  std::shared_ptr<attempt> last_;  // of our attempts
  bool elected_ = false;           // by that one
  round_of<done> leaving_;         // what came of its release
  std::uint32_t attempts_ = 0;
  std::uint64_t waits_since_ = 0;
  unsigned splits_ = 0;  // votes in a row without a winner
  instant again_at_{};
};

std::unique_ptr<seam::claim> quorum::open(seam::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

// A look at all of them.

namespace {

/// For questions that are answered when everybody has, or has had its time.
verdict all_of_them(const tally& t) { return t.open() == 0 ? verdict::unknown : verdict::open; }

/// What a holder is known by at every server.
std::string who_holds(const state& is) {
  if (is.holders.empty()) return {};
  const state::holder& first = is.holders.front();
  return first.foreign ? "another library" : first.owner;
}

/// Of one and the same holder the same fence, in all servers that were in time; a server that was mended may know a
/// higher one.
std::uint64_t most_common_fence(const std::vector<const state*>& of) {
  std::map<std::uint64_t, std::size_t> named;
  for (const state* is : of) ++named[is->holders.front().fence];
  std::uint64_t best = 0;
  std::size_t most = 0;
  for (const auto& [fence, times] : named) {
    if (times < most) continue;
    best = fence;
    most = times;
  }
  return best;
}

}  // namespace

task<answer<state>> quorum::inspect(io& i, std::string name, limit l) {
  answer<state> got = co_await at_home(i, inspect_here(std::move(name), std::move(l)));
  co_return got;
}

/// What stands at a minority is nobody's lock.
task<answer<state>> quorum::inspect_here(std::string name, limit l) {
  const limit each = until(std::min(l.at(), later(home_.now(), one_request)));
  const round_of<state> all =
      ask_all<state>([&](std::size_t who) { return voters_[who]->behind().inspect(home_, name, each); });
  const limit own(each.at(), l.stop());
  const verdict over = co_await all->settle(home_, all_of_them, own);
  (void)over;  // those that have not answered by now do not count
  if (all->count().yes < majority()) {
    co_return answer<state>::unknown(why_not(*all, "no majority of the servers answers"));
  }
  std::map<std::string, std::vector<const state*>> seen;
  for (std::optional<answer<state>>& got : all->replies()) {
    if (got && got->is_yes()) seen[who_holds(got->value())].push_back(&got->value());
  }
  const auto more_wait = [](const state* one, const state* other) { return one->waiting < other->waiting; };
  for (const auto& [holder, those] : seen) {
    if (those.size() < majority()) continue;
    state is = **std::max_element(those.begin(), those.end(), more_wait);
    if (!is.holders.empty()) is.holders.front().fence = most_common_fence(those);
    co_return answer<state>::yes(std::move(is));
  }
  co_return answer<state>::yes(state());
}

task<answer<done>> quorum::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  answer<done> got = co_await at_home(i, revoke_here(std::move(name), std::move(reason), fence, std::move(l)));
  co_return got;
}

task<answer<done>> quorum::revoke_here(std::string name, std::string reason, std::uint64_t fence, limit l) {
  const limit each = until(std::min(l.at(), later(home_.now(), one_request)));
  const round_of<done> all =
      ask_all<done>([&](std::size_t who) { return voters_[who]->behind().revoke(home_, name, reason, fence, each); });
  // Not only a majority: a server that is asked later would ask whoever holds it then.
  const limit own(each.at(), l.stop());
  const verdict over = co_await all->settle(home_, all_of_them, own);
  (void)over;
  const verdict so = of_step(all->count());
  if (so == verdict::yes) co_return answer<done>::yes(done());
  if (so == verdict::no) co_return answer<done>::no();
  co_return answer<done>::unknown(why_not(*all, "no majority of the servers asks the holder"));
}

task<answer<std::vector<finding>>> quorum::examine(io& i, limit l) {
  answer<std::vector<finding>> got = co_await at_home(i, examine_here(std::move(l)));
  co_return got;
}

task<answer<std::vector<finding>>> quorum::examine_here(limit l) {
  using findings = std::vector<finding>;
  const round_of<findings> all =
      ask_all<findings>([&](std::size_t who) { return voters_[who]->behind().examine(home_, l); });
  const limit own(runtime::never, l.stop());  // each has a limit of its own
  const verdict over = co_await all->settle(home_, all_of_them, own);
  (void)over;
  if (all->count().yes == 0) {
    co_return answer<findings>::unknown(why_not(*all, "none of the servers can be examined"));
  }
  findings found = settings_.known;
  for (std::size_t who = 0; who < voters_.size(); ++who) {
    const std::string where = voters_[who]->where() + ": ";
    std::optional<answer<findings>>& got = all->replies()[who];
    if (!got || !got->is_yes()) {
      found.push_back({finding::severity::warning, "redlock.server",
                       where + "this server cannot be examined: " + (got ? got->why().text : "no answer"),
                       "It is a vote against every lock; with a majority of such servers no lock can be had.",
                       "Start it again, or mend the way to it"});
      continue;
    }
    for (finding& each : got->value()) {
      each.what = where + each.what;
      found.push_back(std::move(each));
    }
  }
  co_return answer<findings>::yes(std::move(found));
}

void quorum::when_in_doubt(std::function<void(seam::shard)> verify) {
  for (const auto& each : voters_) each->behind().when_in_doubt(verify);
}

void quorum::when_asked(std::function<void(seam::asking)> asked) {
  for (const auto& each : voters_) each->behind().when_asked(asked);
}

void quorum::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  for (const auto& each : voters_) each->behind().close();
}

guarantees quorum::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = false, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::core
