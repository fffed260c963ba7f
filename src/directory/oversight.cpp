// What those see and do who look after the locks of others.
#include <algorithm>
#include <bit>
#include <chrono>

#include "directory/ledger.hpp"
#include "directory/transaction.hpp"
#include "storage/self.hpp"

namespace holdfast::directory {

namespace {

state::note note_of(const std::string& reason, std::uint64_t fence) {
  return {reason, storage::who_we_are(), fence, std::chrono::system_clock::now()};
}

}  // namespace

// Not when the store is opened: few write one.
void ledger::make_notes(instant until) {
  writing change(*this, until);
  if (notes_) return;
  notes::make_table(database_);
  change.keep();
  notes_.emplace(database_);
}

state ledger::look(const std::string& name, std::int64_t pid_namespace, const survey::bounds& listed) {
  const survey there(places_, sessions_, name);
  state is = there.as_state(pid_namespace, listed);
  if (!notes_ && notes::has_table(database_)) notes_.emplace(database_);
  if (!notes_) return is;
  if (const auto broken = notes_->find(name, notes::kind::broken)) is.broken = broken->is;
  const auto asked = notes_->find(name, notes::kind::asked);
  const auto is_asked = [&](const places::row& each) {
    return std::ranges::find(asked->whom, each.owner) != asked->whom.end();
  };
  if (asked && std::ranges::any_of(there.holders(), is_asked)) is.asked = asked->is;
  return is;
}

state ledger::inspect(const std::string& name, instant until) {
  const reading ours(*this, until);
  return look(name, own_pid_namespace(), {state::most_listed, state::most_waiters_listed});
}

listing ledger::list(const std::string& prefix, const std::string& after, std::size_t most, instant until) {
  const reading ours(*this, until);
  const snapshot one_moment(*this);
  const std::int64_t pid_namespace = own_pid_namespace();
  listing page;
  std::string last = after;
  for (std::size_t n = 0; n < most; ++n) {
    std::optional<std::string> next = places_.next_name(last, prefix);
    if (!next || !next->starts_with(prefix)) return page;
    last = *next;
    state is = look(last, pid_namespace, {listing::most_holders, 0});
    if (is.holding != 0 || is.waiting != 0) page.names.push_back({std::move(*next), std::move(is)});
  }
  page.next = last;
  return page;
}

claims_by_session ledger::ask_holders(const std::string& name, const std::string& reason, std::uint64_t fence,
                                      instant until) {
  make_notes(until);
  writing change(*this, until);
  claims_by_session those = survey(places_, sessions_, name).holders_with(fence);
  if (those.empty()) return those;
  notes::record made{.is = note_of(reason, fence)};
  for (const auto& [session, owners] : those) made.whom.insert(made.whom.end(), owners.begin(), owners.end());
  notes_->put(name, notes::kind::asked, made);
  change.keep();
  return those;
}

bool ledger::break_lock(const storage::break_request& what, instant until, std::vector<summons>& told,
                        claims_by_session& losers) {
  make_notes(until);
  writing change(*this, until);
  const owner_bytes id = std::bit_cast<owner_bytes>(what.id);
  const auto before = notes_->find(what.name, notes::kind::broken);
  if (before && before->id == id) return true;
  gathering all = all_at(what.name, told);
  const survey there(places_, sessions_, what.name);  // those who are left
  std::uint64_t fence = what.fence;
  for (const places::row& each : there.holders()) {
    const storage::share has{each.part, each.whole};
    if (!what.is_about(std::bit_cast<storage::owner_id>(each.owner), has, each.fence, fences_of(has))) continue;
    all.take_from(each);
    losers[each.session].push_back(each.owner);
    if (fence == 0) fence = each.fence;
  }
  if (losers.empty()) return false;
  all.serve();
  all.save();
  notes_->put(what.name, notes::kind::broken, {.is = note_of(what.reason, fence), .id = id});
  change.keep();
  return true;
}

}  // namespace holdfast::directory
