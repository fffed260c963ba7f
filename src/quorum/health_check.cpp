#include <map>
#include <string>
#include <utility>
#include <vector>

#include "quorum/admin.hpp"
#include "storage/claim.hpp"

namespace holdfast::quorum {

using storage::answer;
using storage::io;
using storage::task;

namespace {

/// All names of each server, by the server's identity.
using names_by_identity = std::map<std::string, std::vector<std::string>>;

task<names_by_identity> names_of_servers(server_set& all) {
  const limit soon = all.until(runtime::later(all.loop().now(), one_request));
  const round_ptr<std::string> said =
      all.ask_all<std::string>([&](std::size_t who) { return all[who].identity(all.loop(), soon); });
  const verdict over = co_await said->settle(all.loop(), all_of_them, soon);
  (void)over;  // servers that have not replied by now do not count
  names_by_identity names;
  for (std::size_t who = 0; who < all.size(); ++who) {
    std::optional<answer<std::string>>& got = said->replies()[who];
    if (got && got->is_yes() && !got->value().empty()) names[got->value()].push_back(all[who].where());
  }
  co_return names;
}

/// Adds a finding on whether several names of the URL belong to one server.
void judge_names(const names_by_identity& all, std::size_t voters, std::vector<finding>& found) {
  const std::string id = "redlock.same_server";
  std::size_t names = 0;
  std::string same;
  for (const auto& [identity, of_it] : all) {
    names += of_it.size();
    if (of_it.size() < 2) continue;
    same += same.empty() ? "" : "; ";
    for (const std::string& each : of_it) same.append(&each == of_it.data() ? "" : " and ").append(each);
  }
  if (names == 0) return;
  if (same.empty()) {
    found.push_back({finding::severity::fine, id, "Each server has one name in the URL.", {}, {}});
    return;
  }
  const std::size_t servers = voters - names + all.size(), majority = majority_of(voters);
  const std::string may_fail = servers > majority ? std::to_string(servers - majority) : "none";
  const bool too_few = servers < majority;
  found.push_back(
      {too_few ? finding::severity::danger : finding::severity::warning, id,
       "The URL has several names for one server: " + same + ".",
       "A server has one vote, by whatever names it is asked. " +
           (too_few ? std::string("No lock can be acquired: a majority has more votes than there are servers.")
                    : "Of " + std::to_string(servers) + " servers " + may_fail + " may fail, and a lock needs " +
                          std::to_string(majority) + " of them."),
       "Name each server once in the URL"});
}

}  // namespace

task<answer<std::vector<finding>>> admin::examine(io& i, limit l) {
  if (i.in_place()) co_return all_.on_loop(examine(all_.loop(), std::move(l)));
  using findings = std::vector<finding>;
  const round_ptr<findings> all =
      all_.ask_all<findings>([&](std::size_t who) { return all_[who].behind().admin().examine(all_.loop(), l); });
  const limit own(runtime::never, l.stop());  // each health check has its own limit
  const verdict over = co_await all->settle(all_.loop(), all_of_them, own);
  (void)over;
  if (all->count().yes == 0) {
    co_return answer<findings>::unknown(all_.why_not(*all, "none of the servers can be examined"));
  }
  findings found = known_;
  const names_by_identity names = co_await names_of_servers(all_);
  judge_names(names, all_.size(), found);
  for (std::size_t who = 0; who < all_.size(); ++who) {
    const std::string where = all_[who].where() + ": ";
    std::optional<answer<findings>>& got = all->replies()[who];
    if (!got || !got->is_yes()) {
      const bool too_few = all->count().yes < all_.majority();
      found.push_back({too_few ? finding::severity::danger : finding::severity::warning, "redlock.server",
                       where + "this server cannot be examined: " + (got ? got->why().text : "no answer"),
                       "It is a vote against every lock; with a majority of such servers no lock can be acquired.",
                       "Start it again, or fix the way to it"});
      continue;
    }
    for (finding& each : got->value()) {
      each.what = where + each.what;
      found.push_back(std::move(each));
    }
  }
  co_return answer<findings>::yes(std::move(found));
}

}  // namespace holdfast::quorum
