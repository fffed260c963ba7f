#include "directory/lock_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

std::int64_t microseconds_now() { return runtime::nanoseconds_of(boot_clock::now()) / 1'000; }

}  // namespace

lock_table::thread_turn::thread_turn(lock_table& t, instant until) : turn_(t.turn_) {
  const auto patience = std::min<std::chrono::nanoseconds>(until - boot_clock::now(), 1h);
  if (!turn_.try_acquire() && !turn_.try_acquire_for(patience)) t.writers_.fail_as_late();
}

lock_table::writing::writing(lock_table& t, instant until)
    : table_(t), among_threads_(t, until), among_processes_(t.writers_, until) {
  t.fences_.begin();
  t.database_.files().check_if_changed();  // otherwise we could write where no client reads
  t.database_.limit_busy_wait(until);
  t.begin_.run();
}

lock_table::writing::~writing() {
  if (table_.database_.in_transaction()) {
    try {
      table_.roll_back_.run();
    } catch (...) {  // SQLite has rolled it back already
    }
  }
}

void lock_table::writing::commit() {
  table_.fences_.secure();
  table_.commit_.run();
}

lock_table::lock_table(const folder& in, sessions& s, std::vector<session_id>& ended)
    : sessions_(s),
      writers_(in),
      database_(in, writers_, s),
      fences_(in, database_),
      rows_(database_),
      begin_(database_.get(), "BEGIN IMMEDIATE"),
      begin_reading_(database_.get(), "BEGIN"),
      commit_(database_.get(), "COMMIT"),
      roll_back_(database_.get(), "ROLLBACK") {
  begin_session(ended);
}

/// Also removes some of the sessions that ended without leave().
void lock_table::begin_session(std::vector<session_id>& ended) {
  writing change(*this, boot_clock::now() + 5s);
  statement some(database_.get(), "SELECT id FROM session ORDER BY random() LIMIT 64");
  ended = some.rows<session_id>();
  std::erase_if(ended, [&](session_id each) { return sessions_.alive(each); });
  statement remove(database_.get(), "DELETE FROM session WHERE id = ?");
  for (const session_id id : ended) remove.run(id);
  if (!ended.empty()) remove_claims_without_session();
  statement add(database_.get(), "INSERT INTO session(pid, namespace) VALUES(?, ?) RETURNING id");
  const session_id id = add.row<session_id>(::getpid(), own_pid_namespace()).value_or(0);
  if (!sessions_.begin(id)) throw storage::failure(errc::foreign, "the byte of a new session is locked already");
  change.commit();
}

/// Admits no waiters; they notice by themselves that these sessions have ended.
void lock_table::remove_claims_without_session() {
  statement all(
      database_.get(),
      "SELECT DISTINCT name, session FROM place WHERE session != 0 AND session NOT IN (SELECT id FROM session)");
  struct claim {
    std::string name;
    session_id session;
  };
  std::vector<notification> none;
  for (const auto& [name, session] : all.rows<claim>()) {
    stored_queue queue = queue_of(name, none);
    queue.remove(session);
    queue.save();
  }
}

stored_queue lock_table::queue_of(const std::string& name, std::vector<notification>& notifications) {
  return stored_queue(rows_, fences_, sessions_, name, notifications);
}

/// The result of a poll: a fence, or what is ahead of the claim.
struct lock_table::position {
  std::optional<std::uint64_t> fence{};
  std::optional<session_id> predecessor{};  ///< in the queue
  std::vector<session_id> holders{};        ///< if there is no predecessor
};

lock_table::poll_result lock_table::poll(entry& me, instant until, std::vector<notification>& notifications) {
  writing change(*this, until);
  stored_queue queue = queue_of(me.name, notifications);
  const position mine = find_position(queue, me);
  poll_result result;
  if (mine.fence) {
    result.ours = true;
    result.fence = *mine.fence;
  } else {
    result.holder = rows_.label_of_a_holder(me.name);
    const std::optional<claim_rows::expiry> first = rows_.first_expiry(me.name);
    if (first) result.expires = instant(std::chrono::nanoseconds(first->expires));
    if (me.queue) result.ahead = processes_ahead(mine);
  }
  queue.save();
  change.commit();
  // The caller has its own fence in the result.
  std::erase_if(notifications, [&](const notification& each) { return each.text.owner == me.owner; });
  return result;
}

// Asking the kernel whether holders live is left to the first waiter and to claims that poll again. A new claim that
// finds others waiting does not ask.
lock_table::position lock_table::find_position(stored_queue& queue, entry& me) {
  const bool known = queue.knows(me);
  position mine;
  if (me.barges && !queue.holds(me)) mine.fence = queue.barge(me);
  if (mine.fence) return mine;
  queue.admit_waiters();
  mine.fence = queue.admit(me, known);
  // Only a new claim can disagree: a resize rejects no claim that is in the queue.
  const bool disagrees = !known && queue.whole() != me.wants.whole;
  if (!mine.fence && (known || disagrees || (!me.queue && !queue.has_waiters()))) {
    const bool one_is_enough = disagrees || (!known && me.wants.part == queue.whole());
    mine.holders = queue.living_holders(one_is_enough);
    mine.fence = queue.admit(me, known);
  }
  if (!mine.fence && !known && queue.whole() != me.wants.whole) {
    throw storage::disagreement(queue.whole(), me.wants.whole);
  }
  if (mine.fence || !me.queue) return mine;
  if (!known) queue.wait(me);
  mine.predecessor = queue.predecessor(me);
  if (!known && !mine.predecessor) {
    mine.holders = queue.living_holders(false);
    mine.fence = queue.admit(me, true);
  }
  return mine;
}

std::vector<process> lock_table::processes_ahead(const position& mine) {
  if (mine.predecessor) return {rows_.process_of(*mine.predecessor)};
  std::vector<process> all;
  all.reserve(mine.holders.size());
  for (const session_id each : mine.holders) {
    all.push_back(all.size() < most_watched ? rows_.process_of(each) : process{.session = each});
  }
  return all;
}

bool lock_table::renew(const entry& me, milliseconds ttl, instant until) {
  writing change(*this, until);
  const instant now = boot_clock::now();
  const std::optional<claim_rows::holder> mine = rows_.find_holder(me.name, sessions_.own(), me.owner);
  if (!mine || mine->expires <= runtime::nanoseconds_of(now)) return false;
  rows_.extend(me.name, sessions_.own(), me.owner, runtime::nanoseconds_of(now + ttl));
  change.commit();
  return true;
}

bool lock_table::downgrade(const entry& me, std::uint64_t fence, milliseconds ttl, instant until,
                           std::vector<notification>& notifications) {
  writing change(*this, until);
  stored_queue queue = queue_of(me.name, notifications);
  if (!queue.downgrade(me, fence, ttl)) return false;
  queue.save();
  change.commit();
  return true;
}

bool lock_table::release(const entry& me, instant until, std::vector<notification>& notifications) {
  writing change(*this, until);
  stored_queue queue = queue_of(me.name, notifications);
  const bool was_there = queue.release(me);
  queue.save();
  change.commit();
  return was_there;
}

void lock_table::resize(const std::string& name, std::uint32_t whole, instant until,
                        std::vector<notification>& notifications) {
  writing change(*this, until);
  stored_queue queue = queue_of(name, notifications);
  queue.resize(whole);
  queue.save();
  change.commit();
}

void lock_table::pass_over(session_id ended, const std::string& name, instant until,
                           std::vector<notification>& notifications) {
  writing change(*this, until);
  stored_queue queue = queue_of(name, notifications);
  queue.remove_holders(ended);
  queue.admit_waiters();
  queue.save();
  change.commit();
}

// Not in the constructor, because few programs use cells.
void lock_table::make_cells(instant until) {
  if (has_cells_) return;
  writing change(*this, until);
  if (cells_) return;
  cells::make_tables(database_);
  change.commit();
  cells_.emplace(database_);
  has_cells_ = true;
}

storage::reading lock_table::get_cell(const std::string& name, instant until) {
  make_cells(until);
  const writing look(*this, until);
  return read_cell(cells_->find(name), microseconds_now());
}

storage::answer<std::uint64_t> lock_table::put_cell(const std::string& name, std::uint64_t seen,
                                                    const storage::change& wanted, instant until,
                                                    std::vector<notification>& notifications) {
  make_cells(until);
  writing change(*this, until);
  const std::int64_t now = microseconds_now();
  std::optional<storage::cell_record> cell = cells_->find(name);
  storage::put_result result = storage::put_cell(cell, seen, wanted, now);
  if (!result.made) return std::move(result.said);
  cells_->save(name, *cell, now);
  std::vector<notification> watchers;
  if (result.tell) watchers = cells_->take_watchers(name);
  change.commit();
  notifications = std::move(watchers);
  return std::move(result.said);
}

bool lock_table::watch_cell(const std::string& name, const storage::reading& seen, const owner_bytes& who,
                            milliseconds watched_for, instant until) {
  make_cells(until);
  writing change(*this, until);
  const std::int64_t now = microseconds_now();
  if (has_changed(cells_->find(name), seen, now)) return false;
  const std::int64_t expires = now + std::chrono::duration_cast<std::chrono::microseconds>(watched_for).count();
  cells_->watch(name, who, sessions_.own(), expires, now);
  change.commit();
  return true;
}

std::vector<notification> lock_table::leave() noexcept {
  std::vector<notification> notifications;
  try {
    writing change(*this, boot_clock::now() + 1s);
    statement left(database_.get(), "SELECT DISTINCT name FROM place WHERE session = ?");
    for (const std::string& name : left.rows<std::string>(sessions_.own())) {
      stored_queue queue = queue_of(name, notifications);
      queue.remove(sessions_.own());
      queue.admit_waiters();
      queue.save();
    }
    statement(database_.get(), "DELETE FROM session WHERE id = ?").run(sessions_.own());
    change.commit();
  } catch (...) {  // a later client cleans up
    notifications.clear();
  }
  return notifications;
}

}  // namespace holdfast::directory
