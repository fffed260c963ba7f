#include "quorum/shared_view.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::quorum {

namespace {

using those = std::vector<const state*>;

/// By what a holder is identified at every server.
std::string who_holds(const state& is) {
  if (is.holders.empty()) return {};
  const state::holder& first = is.holders.front();
  return first.foreign ? "another library" : first.owner;
}

/// The servers that voted in time know the same fence of a holder. A server that was repaired may know a higher one.
std::uint64_t most_common_fence(const those& of) {
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

/// Merges what these servers say of the same holder.
state::holder holder_of(those of, std::size_t majority) {
  const auto left = [](const state* is) { return is->holders.front().left; };
  const auto longer = [&](const state* one, const state* other) {
    return left(one).value_or(std::chrono::milliseconds::max()) >
           left(other).value_or(std::chrono::milliseconds::max());
  };
  std::sort(of.begin(), of.end(), longer);
  state::holder who = of[majority - 1]->holders.front();
  who.fence = most_common_fence(of);
  who.margin = of.size() - majority;
  for (const state* is : of) {
    if (is->holders.front().fence == who.fence) who.since = is->holders.front().since;
  }
  return who;
}

/// Keeps the later note.
void keep_later(std::optional<state::note>& kept, const std::optional<state::note>& other) {
  if (other && (!kept || kept->at < other->at)) kept = other;
}

}  // namespace

state shared_view(const those& seen, std::size_t majority) {
  state is;
  std::map<std::string, those> by_holder;
  for (const state* each : seen) {
    by_holder[who_holds(*each)].push_back(each);
    keep_later(is.broken, each->broken);
    if (each->waiting <= is.waiting) continue;
    is.waiting = each->waiting;
    is.waiters = each->waiters;
    is.waiting_since = each->waiting_since;
  }
  for (const auto& [holder, of] : by_holder) {
    if (holder.empty() || of.size() < majority) continue;
    is.holders.push_back(holder_of(of, majority));
    is.holding = 1;
    for (const state* each : of) keep_later(is.asked, each->asked);
  }
  return is;
}

}  // namespace holdfast::quorum
