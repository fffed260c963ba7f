#include "directory/ledger.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "directory/transaction.hpp"
#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

std::int64_t microseconds_now() { return runtime::nanoseconds_of(boot_clock::now()) / 1'000; }

}  // namespace

std::int64_t own_pid_namespace() {
  struct stat is{};
  return ::stat("/proc/self/ns/pid", &is) == 0 ? static_cast<std::int64_t>(is.st_ino) : 0;
}

ledger::ledger(const folder& in, sessions& s, std::vector<session_id>& gone)
    : sessions_(s),
      writers_(in),
      database_(in, writers_, s),
      mint_(in, database_),
      places_(database_),
      begin_(database_.get(), "BEGIN IMMEDIATE"),
      begin_to_look_(database_.get(), "BEGIN"),
      commit_(database_.get(), "COMMIT"),
      roll_back_(database_.get(), "ROLLBACK") {
  begin_session(gone);
}

void ledger::begin_session(std::vector<session_id>& gone) {
  writing change(*this, boot_clock::now() + 5s);
  // Those who went without a word: whoever comes tidies up after some of them.
  statement some(database_.get(), "SELECT id FROM session ORDER BY random() LIMIT 64");
  gone = some.rows<session_id>();
  std::erase_if(gone, [&](session_id each) { return sessions_.alive(each); });
  statement forget(database_.get(), "DELETE FROM session WHERE id = ?");
  for (const session_id id : gone) forget.run(id);
  if (!gone.empty()) forget_those_without_session();
  statement enter(database_.get(), "INSERT INTO session(pid, namespace) VALUES(?, ?) RETURNING id");
  const session_id id = enter.row<session_id>(::getpid(), own_pid_namespace()).value_or(0);
  if (!sessions_.begin(id)) throw storage::failure(errc::foreign, "a new session's byte is locked already");
  change.keep();
}

/// Those who wait for what these held notice it by themselves.
void ledger::forget_those_without_session() {
  statement all(
      database_.get(),
      "SELECT DISTINCT name, session FROM place WHERE session != 0 AND session NOT IN (SELECT id FROM session)");
  struct left {
    std::string name;
    session_id session;
  };
  std::vector<summons> nobody;
  for (const auto& [name, session] : all.rows<left>()) {
    gathering there = all_at(name, nobody);
    there.forget(session);
    there.save();
  }
}

gathering ledger::all_at(const std::string& name, std::vector<summons>& told) {
  return gathering(places_, mint_, sessions_, name, told);
}

/// Where somebody stands who has asked.
struct ledger::line {
  std::optional<std::uint64_t> fence{};  ///< it is in
  std::optional<session_id> before{};    ///< in the queue
  std::vector<session_id> holders{};     ///< if there is none before it
};

ledger::found ledger::acquire(entry& me, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  gathering all = all_at(me.name, told);
  const line place = find_place(all, me);
  found is;
  if (place.fence) {
    is.ours = true;
    is.fence = *place.fence;
  } else {
    is.holder = places_.label_of_a_holder(me.name);
    const std::optional<places::end> first = places_.first_end(me.name);
    if (first) is.expires = instant(std::chrono::nanoseconds(first->expires));
    if (me.queue) is.ahead = processes_of(place);
  }
  all.save();
  change.keep();
  std::erase_if(told, [&](const summons& each) { return each.text.owner == me.owner; });  // it hears of it here
  return is;
}

// Whether holders live is asked where it matters: by those who are first in line, or come back to look. Whoever comes
// and finds others waiting leaves that to them.
ledger::line ledger::find_place(gathering& all, entry& me) {
  const bool known = all.knows(me);
  line is;
  if (me.barges && !all.holds(me)) is.fence = all.barge(me);
  if (is.fence) return is;
  all.serve();
  is.fence = all.admit(me, known);
  // Only those who come: a semaphore that was resized does not turn away who is there.
  const bool disagrees = !known && all.whole() != me.wants.whole;
  if (!is.fence && (known || disagrees || (!me.queue && !all.somebody_waits()))) {
    const bool one_is_in_the_way = disagrees || (!known && me.wants.part == all.whole());
    is.holders = all.living_holders(one_is_in_the_way);
    is.fence = all.admit(me, known);
  }
  if (!is.fence && !known && all.whole() != me.wants.whole) throw storage::disagreement(all.whole(), me.wants.whole);
  if (is.fence || !me.queue) return is;
  if (!known) all.wait(me);
  is.before = all.predecessor(me);
  if (!known && !is.before) {
    is.holders = all.living_holders(false);
    is.fence = all.admit(me, true);
  }
  return is;
}

std::vector<process> ledger::processes_of(const line& place) {
  if (place.before) return {places_.process_of(*place.before)};
  std::vector<process> all;
  all.reserve(place.holders.size());
  for (const session_id each : place.holders) {
    all.push_back(all.size() < most_watched ? places_.process_of(each) : process{.session = each});
  }
  return all;
}

bool ledger::renew(const entry& me, milliseconds ttl, instant until) {
  writing change(*this, until);
  const instant now = boot_clock::now();
  const std::optional<places::holder> mine = places_.find_holder(me.name, sessions_.own(), me.owner);
  if (!mine || mine->expires <= runtime::nanoseconds_of(now)) return false;
  places_.extend(me.name, sessions_.own(), me.owner, runtime::nanoseconds_of(now + ttl));
  change.keep();
  return true;
}

bool ledger::downgrade(const entry& me, std::uint64_t fence, milliseconds ttl, instant until,
                       std::vector<summons>& told) {
  writing change(*this, until);
  gathering all = all_at(me.name, told);
  if (!all.downgrade(me, fence, ttl)) return false;
  all.save();
  change.keep();
  return true;
}

bool ledger::release(const entry& me, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  gathering all = all_at(me.name, told);
  const bool was_there = all.leave(me);
  all.save();
  change.keep();
  return was_there;
}

void ledger::resize(const std::string& name, std::uint32_t whole, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  gathering all = all_at(name, told);
  all.resize(whole);
  all.save();
  change.keep();
}

void ledger::pass_over(session_id gone, const std::string& name, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  gathering all = all_at(name, told);
  all.forget_holders(gone);
  all.serve();
  all.save();
  change.keep();
}

// Not when the store is opened: few use them.
void ledger::make_cells(instant until) {
  if (has_cells_) return;
  writing change(*this, until);
  if (cells_) return;
  cells::make_tables(database_);
  change.keep();
  cells_.emplace(database_);
  has_cells_ = true;
}

storage::reading ledger::get_cell(const std::string& name, instant until) {
  make_cells(until);
  const writing look(*this, until);
  return read_cell(cells_->find(name), microseconds_now());
}

storage::answer<std::uint64_t> ledger::put_cell(const std::string& name, std::uint64_t seen,
                                                const storage::change& wanted, instant until,
                                                std::vector<summons>& told) {
  make_cells(until);
  writing change(*this, until);
  const std::int64_t now = microseconds_now();
  std::optional<storage::cell_record> is = cells_->find(name);
  storage::put_result result = storage::put_cell(is, seen, wanted, now);
  if (!result.made) return std::move(result.said);
  cells_->save(name, *is, now);
  std::vector<summons> waiting;
  if (result.tell) waiting = cells_->take_watchers(name);
  change.keep();
  told = std::move(waiting);
  return std::move(result.said);
}

bool ledger::watch_cell(const std::string& name, const storage::reading& seen, const owner_bytes& who,
                        milliseconds for_long, instant until) {
  make_cells(until);
  writing change(*this, until);
  const std::int64_t now = microseconds_now();
  if (has_changed(cells_->find(name), seen, now)) return false;
  const std::int64_t gone = now + std::chrono::duration_cast<std::chrono::microseconds>(for_long).count();
  cells_->watch(name, who, sessions_.own(), gone, now);
  change.keep();
  return true;
}

std::vector<summons> ledger::leave() noexcept {
  std::vector<summons> told;
  try {
    writing change(*this, boot_clock::now() + 1s);
    statement left(database_.get(), "SELECT DISTINCT name FROM place WHERE session = ?");
    for (const std::string& name : left.rows<std::string>(sessions_.own())) {
      gathering all = all_at(name, told);
      all.forget(sessions_.own());
      all.serve();
      all.save();
    }
    statement(database_.get(), "DELETE FROM session WHERE id = ?").run(sessions_.own());
    change.keep();
  } catch (...) {  // whoever comes next tidies up
    told.clear();
  }
  return told;
}

}  // namespace holdfast::directory
