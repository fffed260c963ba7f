// What those see and do who look after the locks of others: a look at all servers.
#include <algorithm>
#include <map>
#include <utility>

#include "core/quorum.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;
using runtime::later;
using runtime::span;
using seam::answer;
using seam::done;
using seam::io;
using seam::task;

namespace {

/// One request of many, when there is no hurry.
constexpr span one_request = 1s;

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
  answer<state> got = co_await all_.at_home(i, inspect_here(std::move(name), std::move(l)));
  co_return got;
}

/// What stands at a minority is nobody's lock.
task<answer<state>> quorum::inspect_here(std::string name, limit l) {
  const limit each = all_.until(std::min(l.at(), later(all_.home().now(), one_request)));
  const round_of<state> all =
      all_.ask_all<state>([&](std::size_t who) { return all_[who].behind().inspect(all_.home(), name, each); });
  const limit own(each.at(), l.stop());
  const verdict over = co_await all->settle(all_.home(), all_of_them, own);
  (void)over;  // those that have not answered by now do not count
  if (all->count().yes < all_.majority()) {
    co_return answer<state>::unknown(all_.why_not(*all, "no majority of the servers answers"));
  }
  std::map<std::string, std::vector<const state*>> seen;
  for (std::optional<answer<state>>& got : all->replies()) {
    if (got && got->is_yes()) seen[who_holds(got->value())].push_back(&got->value());
  }
  const auto more_wait = [](const state* one, const state* other) { return one->waiting < other->waiting; };
  for (const auto& [holder, those] : seen) {
    if (those.size() < all_.majority()) continue;
    state is = **std::max_element(those.begin(), those.end(), more_wait);
    if (!is.holders.empty()) is.holders.front().fence = most_common_fence(those);
    co_return answer<state>::yes(std::move(is));
  }
  co_return answer<state>::yes(state());
}

task<answer<done>> quorum::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  answer<done> got = co_await all_.at_home(i, revoke_here(std::move(name), std::move(reason), fence, std::move(l)));
  co_return got;
}

task<answer<done>> quorum::revoke_here(std::string name, std::string reason, std::uint64_t fence, limit l) {
  const limit each = all_.until(std::min(l.at(), later(all_.home().now(), one_request)));
  const round_of<done> all = all_.ask_all<done>(
      [&](std::size_t who) { return all_[who].behind().revoke(all_.home(), name, reason, fence, each); });
  // Not only a majority: a server that is asked later would ask whoever holds it then.
  const limit own(each.at(), l.stop());
  const verdict over = co_await all->settle(all_.home(), all_of_them, own);
  (void)over;
  const verdict so = of_step(all->count());
  if (so == verdict::yes) co_return answer<done>::yes(done());
  if (so == verdict::no) co_return answer<done>::no();
  co_return answer<done>::unknown(all_.why_not(*all, "no majority of the servers asks the holder"));
}

}  // namespace holdfast::core
