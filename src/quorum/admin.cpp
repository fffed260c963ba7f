#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "quorum/admin.hpp"

#include "quorum/shared_view.hpp"
#include "storage/claim.hpp"

namespace holdfast::quorum {

using runtime::later;
using storage::answer;
using storage::done;
using storage::failure;
using storage::io;
using storage::task;

namespace {

/// Calls that were never answered are forgotten beyond this number.
constexpr std::size_t most_unanswered = 64;

/// Counts only holders for which counts(holder) is true. Returns the largest number of servers that name the same one.
template <class F>
std::size_t most_votes(vote_round<state>& views, F counts) {
  std::map<std::string, std::size_t> votes;
  std::size_t most = 0;
  for (std::optional<answer<state>>& got : views.replies()) {
    if (!got || !got->is_yes() || got->value().holders.empty()) continue;
    const state::holder& each = got->value().holders.front();
    if (counts(each)) most = std::max(most, ++votes[each.foreign ? "" : each.owner]);
  }
  return most;
}

/// Returns true if the holder is the same whatever the silent servers would say.
bool is_clear(vote_round<state>& views, std::size_t silent) {
  const std::size_t majority = views.count().majority();
  const std::size_t most = most_votes(views, [](const state::holder&) { return true; });
  return most == 0 || most >= majority || most + silent < majority;
}

std::size_t silent_ones(const vote_round<state>& views) { return views.count().voters - views.count().yes; }

/// Returns true if a holder that is meant has a majority, should the silent servers name it too.
bool may_hold_it(vote_round<state>& views, const storage::break_request& what) {
  const auto meant = [&](const state::holder& each) {
    const std::optional<storage::owner_id> holder = each.foreign ? std::nullopt : storage::owner_of(each.owner);
    return holder && what.is_about(*holder, storage::share(), each.fence, storage::vote::fences);
  };
  const std::size_t most = most_votes(views, meant);
  return most > 0 && most + silent_ones(views) >= views.count().majority();
}

failure too_few_say(server_set& all, vote_round<state>& views) {
  return all.why_not(views, "too few of the servers say who holds it");
}

}  // namespace

limit admin::each_within(const limit& l) const {
  return all_.until(std::min(l.at(), later(all_.loop().now(), one_request)));
}

task<round_ptr<state>> admin::views_of(std::string name, limit l) {
  const limit each = each_within(l);
  const round_ptr<state> all =
      all_.ask_all<state>([&](std::size_t who) { return all_[who].behind().admin().inspect(all_.loop(), name, each); });
  const limit soon(std::min(each.at(), later(all_.loop().now(), minority_wait)), l.stop());
  verdict so_far = co_await all->settle(all_.loop(), all_of_them, soon);
  const limit own(each.at(), l.stop());
  const bool enough = all->count().yes >= all_.majority() && is_clear(*all, all->count().open());
  if (so_far == verdict::open && !enough) so_far = co_await all->settle(all_.loop(), all_of_them, own);
  (void)so_far;  // servers that have not answered by now do not count
  co_return all;
}

answer<state> admin::common_view(vote_round<state>& all) const {
  if (all.count().yes < all_.majority()) {
    return answer<state>::unknown(all_.why_not(all, "no majority of the servers answers"));
  }
  std::vector<const state*> seen;
  for (std::optional<answer<state>>& got : all.replies()) {
    if (got && got->is_yes()) seen.push_back(&got->value());
  }
  return answer<state>::yes(shared_view(seen, all_.majority()));
}

task<answer<state>> admin::inspect(io& i, std::string name, limit l) {
  if (i.in_place()) co_return all_.on_loop(inspect(all_.loop(), std::move(name), std::move(l)));
  const round_ptr<state> all = co_await views_of(std::move(name), std::move(l));
  if (all->count().yes >= all_.majority() && !is_clear(*all, silent_ones(*all))) {
    co_return answer<state>::unknown(too_few_say(all_, *all));
  }
  co_return common_view(*all);
}

task<answer<done>> admin::settle_all(round_ptr<done> all, limit l, const char* otherwise) {
  const verdict over = co_await all->settle(all_.loop(), all_of_them, std::move(l));
  (void)over;
  const verdict so = of_step(all->count());
  if (so == verdict::yes) co_return answer<done>::yes(done());
  if (so == verdict::no) co_return answer<done>::no();
  co_return answer<done>::unknown(all_.why_not(*all, otherwise));
}

task<answer<done>> admin::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  io& loop = all_.loop();
  if (i.in_place()) co_return all_.on_loop(revoke(loop, std::move(name), std::move(reason), fence, std::move(l)));
  const limit each = each_within(l);
  const round_ptr<done> all = all_.ask_all<done>(
      [&](std::size_t who) { return all_[who].behind().admin().revoke(all_.loop(), name, reason, fence, each); });
  const limit own(each.at(), l.stop());
  answer<done> got = co_await settle_all(all, own, "no majority of the servers asks the holder");
  co_return got;
}

task<answer<done>> admin::break_lock(io& i, storage::break_request what, limit l) {
  if (i.in_place()) co_return all_.on_loop(break_lock(all_.loop(), std::move(what), std::move(l)));
  const round_ptr<state> views = co_await views_of(what.name, l);
  answer<state> is = common_view(*views);
  if (is.is_unknown()) co_return answer<done>::unknown(std::move(is.why()));
  const std::vector<state::holder>& holders = is.value().holders;
  const bool held = !holders.empty();
  if (held && holders.front().foreign) {
    co_return answer<done>::unknown(failure(errc::foreign, "another library holds it, and it is left alone"));
  }
  const std::optional<storage::owner_id> holder = held ? storage::owner_of(holders.front().owner) : std::nullopt;
  const bool meant = holder && what.is_about(*holder, storage::share(), holders.front().fence, storage::vote::fences);
  // A repeated call goes on with the holder that it meant before. The votes that it has taken already hide that holder
  // from a majority, while the holder may keep the rest.
  const storage::owner_id call = what.id;
  if (meant) {
    if (meant_by_.size() == most_unanswered) meant_by_.erase(meant_by_.begin());
    meant_by_.insert_or_assign(call, *holder);
    what.fence = holders.front().fence;
  }
  const auto before = meant_by_.find(call);
  const bool known = before != meant_by_.end();
  if (!known && may_hold_it(*views, what)) {
    co_return answer<done>::unknown(too_few_say(all_, *views));
  }
  what.owner = known ? std::optional(before->second) : std::nullopt;
  const limit each = each_within(l);
  const round_ptr<done> all =
      all_.ask_all<done>([&](std::size_t who) { return all_[who].force_release(all_.loop(), what, each); });
  const limit own(each.at(), l.stop());
  answer<done> got = co_await settle_all(all, own, "no majority of the servers takes it from its holder");
  // A holder that is notified by the first server releases its votes at the others, perhaps before we get there.
  if (got.is_no() && what.owner && all->count().yes > 0) got = answer<done>::yes(done());
  if (!got.is_unknown()) meant_by_.erase(call);
  co_return got;
}

}  // namespace holdfast::quorum
