#include <utility>

#include "core/quorum.hpp"

namespace holdfast::core {

using seam::answer;
using seam::io;
using seam::task;

task<answer<std::vector<finding>>> quorum::examine(io& i, limit l) {
  answer<std::vector<finding>> got = co_await all_.at_home(i, examine_here(std::move(l)));
  co_return got;
}

task<answer<std::vector<finding>>> quorum::examine_here(limit l) {
  using findings = std::vector<finding>;
  const round_of<findings> all =
      all_.ask_all<findings>([&](std::size_t who) { return all_[who].behind().examine(all_.home(), l); });
  const limit own(runtime::never, l.stop());  // each has a limit of its own
  const verdict over = co_await all->settle(all_.home(), all_of_them, own);
  (void)over;
  if (all->count().yes == 0) {
    co_return answer<findings>::unknown(all_.why_not(*all, "none of the servers can be examined"));
  }
  findings found = settings_.known;
  for (std::size_t who = 0; who < all_.size(); ++who) {
    const std::string where = all_[who].where() + ": ";
    std::optional<answer<findings>>& got = all->replies()[who];
    if (!got || !got->is_yes()) {
      const bool too_few = all->count().yes < all_.majority();
      found.push_back({too_few ? finding::severity::danger : finding::severity::warning, "redlock.server",
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

}  // namespace holdfast::core
