#include "directory/admin.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <fstream>
#include <utility>

#include "directory/lock_table.hpp"
#include "runtime/clock.hpp"
#include "storage/self.hpp"
#include "storage/state.hpp"

namespace holdfast::directory {

namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

constexpr microseconds note_lifetime = std::chrono::hours(24);

std::int64_t microseconds_of(system_clock::time_point t) {
  return std::chrono::duration_cast<microseconds>(t.time_since_epoch()).count();
}

system_clock::time_point time_of(std::int64_t count) { return system_clock::time_point(microseconds(count)); }

/// Fills in host, process and program. Asks the kernel once for each session.
class process_names {
 public:
  process_names(claim_rows& rows, std::int64_t pid_namespace) : rows_(rows), own_namespace_(pid_namespace) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    host_ = host;
  }
  void describe(state::party& who, const claim_rows::row& r) {
    storage::describe(who, std::bit_cast<storage::owner_id>(r.owner), {r.part, r.whole}, r.label);
    auto at = known_.find(r.session);
    if (at == known_.end()) at = known_.emplace(r.session, look_up(r.session)).first;
    who.host = host_;
    who.pid = at->second.pid;
    who.program = at->second.program;
  }

 private:
  struct names {
    std::int64_t pid = 0;
    std::string program{};
  };
  [[nodiscard]] names look_up(session_id of) {
    const process found = rows_.process_of(of);
    if (found.pid_namespace != own_namespace_) return {};  // here its pid is another process
    std::ifstream comm("/proc/" + std::to_string(found.pid) + "/comm");
    std::string program;
    std::getline(comm, program);
    return {found.pid, program};
  }
  claim_rows& rows_;
  const std::int64_t own_namespace_;
  std::string host_;
  std::map<session_id, names> known_;
};

state::note note_of(const std::string& reason, std::uint64_t fence) {
  return {reason, storage::who_we_are(), fence, system_clock::now()};
}

}  // namespace

std::vector<std::pair<session_id, revoke_message>> messages_to(const claims_by_session& claims,
                                                               const revoke_message& text) {
  std::vector<std::pair<session_id, revoke_message>> parts;
  for (const auto& [session, owners] : claims) {
    for (auto from = owners.begin(); from != owners.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(owners.end() - from, revoke_message::most_owners);
      parts.emplace_back(session, text).second.owners.assign(from, to);
      from = to;
    }
  }
  return parts;
}

snapshot::snapshot(claim_rows& rows, const sessions& alive, const std::string& name)
    : rows_(rows), now_(boot_clock::now().time_since_epoch().count()) {
  std::map<session_id, bool> lives;
  for (claim_rows::row& each : rows.all(name)) {
    auto at = lives.find(each.session);
    if (at == lives.end()) at = lives.emplace(each.session, alive.alive(each.session)).first;
    if (!at->second) continue;
    if (each.held == 0) {
      waiters_.push_back(std::move(each));
    } else if (each.expires > now_) {
      holders_.push_back(std::move(each));
    }
  }
}

/// The times are those of fences and tickets, which are never below the clock when they are made.
state snapshot::as_state(std::int64_t pid_namespace, const bounds& listed) const {
  process_names names(rows_, pid_namespace);
  const auto now = system_clock::now();
  state is;
  is.holding = holders_.size();
  is.waiting = waiters_.size();
  if (!waiters_.empty()) is.waiting_since = std::min(now, time_of(waiters_.front().ticket));
  const std::vector<claim_rows::row>& any = holders_.empty() ? waiters_ : holders_;
  if (!any.empty() && any.front().whole != storage::share::lock) is.permits = any.front().whole;
  for (std::size_t n = 0; n < std::min(holders_.size(), listed.holders); ++n) {
    const claim_rows::row& each = holders_[n];
    state::holder& who = is.holders.emplace_back();
    names.describe(who, each);
    who.fence = each.fence;
    who.since = std::min(now, time_of(static_cast<std::int64_t>(each.fence)));
    if (each.expires < no_expiry) {
      who.left = std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds(each.expires - now_));
    }
  }
  for (std::size_t n = 0; n < std::min(waiters_.size(), listed.waiters); ++n) {
    names.describe(is.waiters.emplace_back(), waiters_[n]);
  }
  return is;
}

claims_by_session snapshot::holders_with(std::uint64_t fence) const {
  claims_by_session found;
  for (const claim_rows::row& each : holders_) {
    const bool has_it = fence >= each.fence && fence - each.fence < fences_of({each.part, each.whole});
    if (fence == 0 || has_it) found[each.session].push_back(each.owner);
  }
  return found;
}

void notes::make_table(database& in) {
  in.run(
      "CREATE TABLE IF NOT EXISTS note(name BLOB, kind INTEGER, fence INTEGER NOT NULL, at INTEGER NOT NULL,"
      "  who BLOB NOT NULL, reason BLOB NOT NULL, id BLOB NOT NULL, whom BLOB NOT NULL, PRIMARY KEY(name, kind))"
      "  WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS note_at ON note(at)");
}

bool notes::has_table(const database& in) {
  statement look(in.get(), "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = 'note_at'");
  return look.row<int>().has_value();
}

notes::notes(const database& in)
    : find_(in.get(), "SELECT fence, at, who, reason, id, whom FROM note WHERE name = ? AND kind = ? AND at > ?"),
      put_(in.get(), "INSERT OR REPLACE INTO note VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
      forget_(in.get(), "DELETE FROM note WHERE (name, kind) IN (SELECT name, kind FROM note WHERE at <= ? LIMIT 8)") {}

std::optional<notes::record> notes::find(const std::string& name, kind which) {
  struct row {
    std::uint64_t fence;
    std::int64_t at;
    std::string who, reason;
    owner_bytes id;
    std::vector<owner_bytes> owners;
  };
  const std::int64_t oldest = microseconds_of(system_clock::now() - note_lifetime);
  std::optional<row> found = find_.row<row>(name, static_cast<int>(which), oldest);
  if (!found) return std::nullopt;
  state::note is{std::move(found->reason), std::move(found->who), found->fence, time_of(found->at)};
  return record{std::move(is), found->id, std::move(found->owners)};
}

void notes::put(const std::string& name, kind which, const record& made) {
  const std::int64_t at = microseconds_of(made.is.at.value_or(system_clock::now()));
  put_.run(name, static_cast<int>(which), made.is.fence, at, made.is.by, made.is.reason, made.id, made.owners);
  forget_.run(at - note_lifetime.count());
}

/// Reading needs only the turn among threads.
class lock_table::reading {
 public:
  reading(lock_table& t, instant until) : among_threads_(t, until) {
    t.database_.files().check_if_changed();
    t.database_.limit_busy_wait(until);
  }

 private:
  const thread_turn among_threads_;
};

/// Reads within one of these see the same moment.
class lock_table::read_transaction {
 public:
  explicit read_transaction(lock_table& t) : table_(t) { t.begin_reading_.run(); }
  read_transaction(const read_transaction&) = delete;
  read_transaction& operator=(const read_transaction&) = delete;
  ~read_transaction() {
    try {
      table_.roll_back_.run();
    } catch (...) {  // SQLite has ended it already
    }
  }

 private:
  lock_table& table_;
};

// Not in the constructor, because few programs write notes.
void lock_table::make_notes(instant until) {
  writing change(*this, until);
  if (notes_) return;
  notes::make_table(database_);
  change.commit();
  notes_.emplace(database_);
}

state lock_table::state_of(const std::string& name, std::int64_t pid_namespace, const snapshot::bounds& listed) {
  const snapshot now(rows_, sessions_, name);
  state is = now.as_state(pid_namespace, listed);
  if (!notes_ && notes::has_table(database_)) notes_.emplace(database_);
  if (!notes_) return is;
  if (const auto broken = notes_->find(name, notes::kind::broken)) is.broken = broken->is;
  const auto revoked = notes_->find(name, notes::kind::revoked);
  const auto was_asked = [&](const claim_rows::row& each) {
    return std::ranges::find(revoked->owners, each.owner) != revoked->owners.end();
  };
  if (revoked && std::ranges::any_of(now.holders(), was_asked)) is.asked = revoked->is;
  return is;
}

state lock_table::inspect(const std::string& name, instant until) {
  const reading ours(*this, until);
  return state_of(name, own_pid_namespace(), {state::most_listed, state::most_waiters_listed});
}

listing lock_table::list(const std::string& prefix, const std::string& after, std::size_t most, instant until) {
  const reading ours(*this, until);
  const read_transaction one_moment(*this);
  const std::int64_t pid_namespace = own_pid_namespace();
  listing page;
  std::string last = after;
  for (std::size_t n = 0; n < most; ++n) {
    std::optional<std::string> next = rows_.next_name(last, prefix);
    if (!next || !next->starts_with(prefix)) return page;
    last = *next;
    state is = state_of(last, pid_namespace, {listing::most_holders, 0});
    if (is.holding != 0 || is.waiting != 0) page.names.push_back({std::move(*next), std::move(is)});
  }
  page.next = last;
  return page;
}

claims_by_session lock_table::revoke(const std::string& name, const std::string& reason, std::uint64_t fence,
                                     instant until) {
  make_notes(until);
  writing change(*this, until);
  claims_by_session asked = snapshot(rows_, sessions_, name).holders_with(fence);
  if (asked.empty()) return asked;
  notes::record made{.is = note_of(reason, fence)};
  for (const auto& [session, owners] : asked) made.owners.insert(made.owners.end(), owners.begin(), owners.end());
  notes_->put(name, notes::kind::revoked, made);
  change.commit();
  return asked;
}

bool lock_table::break_lock(const storage::break_request& what, instant until, std::vector<notification>& notifications,
                            claims_by_session& losers) {
  make_notes(until);
  writing change(*this, until);
  const owner_bytes id = std::bit_cast<owner_bytes>(what.id);
  const auto before = notes_->find(what.name, notes::kind::broken);
  if (before && before->id == id) return true;  // the call was repeated
  stored_queue queue = queue_of(what.name, notifications);
  const snapshot now(rows_, sessions_, what.name);
  std::uint64_t fence = what.fence;
  for (const claim_rows::row& each : now.holders()) {
    const storage::share has{each.part, each.whole};
    if (!what.is_about(std::bit_cast<storage::owner_id>(each.owner), has, each.fence, fences_of(has))) continue;
    queue.break_holder(each);
    losers[each.session].push_back(each.owner);
    if (fence == 0) fence = each.fence;
  }
  if (losers.empty()) return false;
  queue.admit_waiters();
  queue.save();
  notes_->put(what.name, notes::kind::broken, {.is = note_of(what.reason, fence), .id = id});
  change.commit();
  return true;
}

}  // namespace holdfast::directory
