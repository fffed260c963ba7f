#include "quorum/attempt.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/back_off.hpp"

namespace holdfast::quorum {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::later;
using runtime::span;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::failure;
using storage::milliseconds;
using storage::task;
using storage::vote;

namespace {

/// A repair that fails is tried again at the next renewal.
constexpr span longest_repair = 2s;
/// When the store closes, a withdrawal is sent a last time: most were sent before, and only the reply is missing.
constexpr span last_request = 100ms;

task<void> repair(server_set& all, std::shared_ptr<attempt> a, std::size_t who, limit l) {
  bool mine = a->mutexes[who].try_lock();
  if (!mine) mine = co_await a->mutexes[who].try_lock_until(all.loop(), l);
  if (!mine) co_return;
  const runtime::adopted_lock ours(a->mutexes[who]);
  const milliseconds ttl = std::chrono::ceil<milliseconds>(a->ends - all.loop().now());
  if (a->withdrawals || ttl <= 0ms) co_return;
  const answer<done> got = co_await all[who].repair(all.loop(), *a, a->fence, ttl, l);
  a->count(who, got.is_yes());  // a failed repair is tried again at the next renewal
}

}  // namespace

void attempt::count(std::size_t who, bool has_it) noexcept {
  if (has_it_[who] == has_it) return;
  has_it_[who] = has_it;
  if (has_it) {
    ++holding_;
  } else {
    --holding_;
  }
}

span limit_of_a_vote(milliseconds ttl) { return std::clamp<span>(span(ttl) / 20, 5ms, 50ms); }

void repair_soon(server_set& all, const std::shared_ptr<attempt>& a, std::size_t who) {
  const instant now = all.loop().now();
  all.begin(repair(all, a, who, all.until(later(now, std::min<span>((a->ends - now) / 4, longest_repair)))));
}

task<answer<vote>> ask(server_set& all, std::shared_ptr<attempt> a, std::size_t who, limit l) {
  bool mine = a->mutexes[who].try_lock();
  if (!mine) mine = co_await a->mutexes[who].try_lock_until(all.loop(), l);
  if (!mine) co_return answer<vote>::unknown(failure::late("not asked"));
  const runtime::adopted_lock ours(a->mutexes[who]);
  answer<vote> got = co_await all[who].ask(all.loop(), *a, l);
  a->count(who, got.is_yes() && got.value().fence != 0);
  if (got.is_unknown() && a->elected) repair_soon(all, a, who);
  co_return got;
}

task<answer<done>> raise_fence(server_set& all, std::shared_ptr<attempt> a, std::size_t who, limit l) {
  bool mine = a->mutexes[who].try_lock();
  if (!mine) mine = co_await a->mutexes[who].try_lock_until(all.loop(), l);
  if (!mine) co_return answer<done>::unknown(failure::late("not asked"));
  const runtime::adopted_lock ours(a->mutexes[who]);
  answer<done> got = co_await all[who].raise_fence(all.loop(), *a, a->fence, l);
  if (got.is_no()) a->count(who, false);
  co_return got;
}

task<answer<done>> renew(server_set& all, std::shared_ptr<attempt> a, std::size_t who, milliseconds ttl,
                         std::uint64_t number, limit l) {
  bool mine = a->mutexes[who].try_lock();
  if (!mine) mine = co_await a->mutexes[who].try_lock_until(all.loop(), l);
  if (!mine) co_return answer<done>::unknown(failure::late("a step before is still under way"));
  const runtime::adopted_lock ours(a->mutexes[who]);
  answer<done> got = co_await all[who].renew(all.loop(), *a, ttl, l);
  a->count(who, got.is_yes());
  if (!got.is_yes() && a->renewed == number) repair_soon(all, a, who);
  co_return got;
}

task<answer<done>> withdraw(server_set& all, std::shared_ptr<attempt> a, std::size_t who) {
  const instant end = later(all.loop().now(), a->longest_ttl);
  bool mine = a->mutexes[who].try_lock();
  if (!mine)
    mine =
        co_await a->mutexes[who].try_lock_until(all.loop(), limit(runtime::never));  // the step before us has a limit
  const runtime::adopted_lock ours(a->mutexes[who]);
  answer<done> got = answer<done>::no();
  for (unsigned tries = 0;; ++tries) {
    const bool last = all.is_ending();
    const instant begun = all.loop().now();
    const limit once = last ? limit(later(begun, last_request)) : all.until(later(begun, one_request));
    got = co_await all[who].withdraw(all.loop(), *a, *a->leaves, once);
    const instant now = all.loop().now();
    if (!got.is_unknown() || now >= end || last) co_return got;
    const wake why = co_await sleep(all.loop(), all.until(later(now, back_off(all.loop(), tries))));
    (void)why;
  }
}

void roll_back(server_set& all, const std::shared_ptr<attempt>& a) {
  a->withdrawals = std::make_shared<vote_round<done>>(all.size());
  for (std::size_t who = 0; who < all.size(); ++who) {
    std::optional<answer<vote>>& got = a->votes->replies()[who];
    const bool of_another = got && got->is_yes() && got->value().fence == 0;
    if (of_another && !a->elected) continue;  // no vote of ours is there, unless an elected attempt was repaired since
    all.begin(put_into<done>(a->withdrawals, who, withdraw(all, a, who)));
  }
}

}  // namespace holdfast::quorum
