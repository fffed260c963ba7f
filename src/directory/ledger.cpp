#include "directory/ledger.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "store/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t for_ever = std::int64_t{1} << 62;
constexpr std::int64_t reserve_ahead =
    10'000'000;  // fences, or microseconds: a durable write every ten seconds at most

std::int64_t wall_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string_view bytes_of(const owner_bytes& owner) { return {owner.data(), owner.size()}; }

/// What is shorter, because somebody wrote into the file, is nobody's.
owner_bytes owner_in(std::string_view bytes) {
  owner_bytes owner{};
  bytes.copy(owner.data(), owner.size());
  return owner;
}

std::int64_t nanoseconds(instant t) { return t.time_since_epoch().count(); }

}  // namespace

std::int64_t own_pid_namespace() {
  struct stat is{};
  return ::stat("/proc/self/ns/pid", &is) == 0 ? static_cast<std::int64_t>(is.st_ino) : 0;
}

/// The turn among our threads.
class ledger::one_thread {
 public:
  one_thread(ledger& l, instant until) : turn_(l.turn_) {
    const auto patience = std::min<std::chrono::nanoseconds>(until - boot_clock::now(), 1h);
    if (!turn_.try_acquire() && !turn_.try_acquire_for(patience)) l.writers_.name_the_one();
  }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;
  ~one_thread() { turn_.release(); }

 private:
  std::binary_semaphore& turn_;
};

/// A transaction: the turn among our threads, the writer's byte among processes, then SQLite's own. Undone unless kept.
class ledger::writing {
 public:
  writing(ledger& l, instant until) : ledger_(l), among_threads_(l, until), among_processes_(l.writers_, until) {
    l.reserved_to_ = 0;
    l.check_files();
    l.database_.wait_for_strangers(until);
    l.begin_.run();
  }
  writing(const writing&) = delete;
  writing& operator=(const writing&) = delete;
  ~writing() {
    if (ledger_.database_.in_transaction()) {
      try {
        ledger_.roll_back_.run();
      } catch (...) {  // then SQLite has undone it already
      }
    }
  }
  void keep() {
    // Before anybody can use them.
    if (ledger_.reserved_to_ != 0) ledger_.reserve_.extend_to(ledger_.reserved_to_);
    ledger_.commit_.run();
  }

 private:
  ledger& ledger_;
  const one_thread among_threads_;
  const writers::turn among_processes_;
};

ledger::ledger(const folder& in, sessions& s, std::vector<session_id>& gone)
    : folder_(in),
      sessions_(s),
      writers_(in),
      database_(in, writers_, s),
      reserve_(in),
      begin_(database_.get(), "BEGIN IMMEDIATE"),
      commit_(database_.get(), "COMMIT"),
      roll_back_(database_.get(), "ROLLBACK"),
      first_(database_.get(),
             "SELECT ticket, owner, session, expires, ttl, label FROM place WHERE name = ? AND ticket >= ? "
             "ORDER BY ticket LIMIT 1"),
      before_(database_.get(),
              "SELECT session FROM place WHERE name = ? AND ticket > 0 AND ticket < ? ORDER BY ticket DESC LIMIT 1"),
      remove_(database_.get(), "DELETE FROM place WHERE name = ? AND ticket = ?"),
      insert_(database_.get(), "INSERT INTO place VALUES(?, ?, ?, ?, ?, ?, ?)"),
      promote_(database_.get(), "UPDATE place SET ticket = 0, expires = ? WHERE name = ? AND ticket = ?"),
      last_ticket_(database_.get(), "SELECT ticket FROM place WHERE name = ? ORDER BY ticket DESC LIMIT 1"),
      extend_(
          database_.get(),
          "UPDATE place SET expires = max(expires, ?) WHERE name = ? AND ticket = 0 AND expires < 4611686018427387904"),
      mint_(database_.get(), "SELECT last, reserved FROM mint"),
      minted_(database_.get(), "UPDATE mint SET last = ?, reserved = ?"),
      process_(database_.get(), "SELECT pid, namespace FROM session WHERE id = ?") {
  begin_session(gone);
}

// Else we would write where nobody reads any more.
void ledger::check_files() const {
  folder_.check();
  database_.check();
}

void ledger::begin_session(std::vector<session_id>& gone) {
  writing change(*this, boot_clock::now() + 5s);
  // Those who went without a word: whoever comes tidies up after some of them.
  statement all(database_.get(), "SELECT id FROM session ORDER BY random() LIMIT 64");
  while (all.step()) {
    if (!sessions_.alive(all.number(0))) gone.push_back(all.number(0));
  }
  all.reset();
  statement forget(database_.get(), "DELETE FROM session WHERE id = ?");
  for (const session_id id : gone) forget.bind(1, id).run();
  if (!gone.empty()) database_.run("DELETE FROM place WHERE session NOT IN (SELECT id FROM session)");

  statement enter(database_.get(), "INSERT INTO session(pid, namespace) VALUES(?, ?) RETURNING id");
  enter.bind(1, ::getpid()).bind(2, own_pid_namespace());
  const session_id id = enter.step() ? enter.number(0) : 0;
  enter.reset();
  if (!sessions_.begin(id)) throw seam::failure(errc::foreign, "a new session's byte is locked already");
  change.keep();
}

ledger::found ledger::acquire(entry& me, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  found is;
  const std::optional<row> first = first_of(me.name, 0);
  const bool was_held = first && first->ticket == 0;
  std::optional<row> holder;
  if (was_held && counts(*first)) holder = first;
  const bool ours = holder && holder->owner == me.owner;
  if (was_held && !holder) remove(me.name, 0);
  // Where there is no row at all, nobody waits either.
  if (first && !holder && serve_next(me.name, me.owner, told)) holder = first_of(me.name, 0);
  if (!holder || ours) {
    hold(me, ours);
    is.ours = true;
    is.fence = mint();
    change.keep();
    me.ticket = 0;  // only now: what is not kept is undone
    return is;
  }
  std::int64_t ticket = me.ticket;
  if (me.queue && !waits(me)) {
    last_ticket_.bind(1, me.name);
    const std::int64_t last = last_ticket_.step() ? last_ticket_.number(0) : 0;
    last_ticket_.reset();
    insert_.bind(1, me.name).bind(2, last + 1).bind(3, bytes_of(me.owner)).bind(4, sessions_.own());
    insert_.bind(5, me.fixed ? me.ttl.count() : 0).bind(6, for_ever).bind(7, me.label).run();
    ticket = last + 1;
  }
  is.holder = holder->label;
  if (holder->expires != for_ever) is.expires = instant(std::chrono::nanoseconds(holder->expires));
  if (me.queue) is.ahead = ahead_of(me.name, ticket, *holder);
  change.keep();
  me.ticket = ticket;
  return is;
}

bool ledger::renew(const entry& me, milliseconds ttl, instant until) {
  writing change(*this, until);
  const std::optional<row> holder = first_of(me.name, 0);
  if (!holder || holder->ticket != 0 || holder->owner != me.owner || !counts(*holder)) return false;
  extend_.bind(1, nanoseconds(boot_clock::now() + ttl)).bind(2, me.name).run();
  change.keep();
  return true;
}

bool ledger::release(entry& me, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  const std::optional<row> first = first_of(me.name, 0);
  const bool held = first && first->ticket == 0 && first->owner == me.owner;
  const bool waited = waits(me);
  const bool was_there = (held && counts(*first)) || waited;
  if (held) {
    remove(me.name, 0);
    serve_next(me.name, me.owner, told);
  }
  if (waited) {  // whoever stands behind us watched us; it has to watch somebody else now
    remove(me.name, me.ticket);
    if (const std::optional<row> behind = first_of(me.name, me.ticket))
      told.push_back({behind->session, {.owner = behind->owner}});
  }
  change.keep();
  me.ticket = 0;
  return was_there;
}

void ledger::serve(const std::string& name, instant until, std::vector<summons>& told) {
  writing change(*this, until);
  const std::optional<row> first = first_of(name, 0);
  if (first && first->ticket == 0 && counts(*first)) return;
  if (first && first->ticket == 0) remove(name, 0);
  serve_next(name, {}, told);
  change.keep();
}

std::vector<summons> ledger::leave() noexcept {
  std::vector<summons> told;
  try {
    writing change(*this, boot_clock::now() + 1s);
    std::vector<std::string> names;
    statement left(database_.get(), "SELECT DISTINCT name FROM place WHERE session = ?");
    left.bind(1, sessions_.own());
    while (left.step()) names.push_back(std::string(left.bytes(0)));
    left.reset();
    statement(database_.get(), "DELETE FROM place WHERE session = ?").bind(1, sessions_.own()).run();
    for (const std::string& name : names) {
      const std::optional<row> first = first_of(name, 0);
      if (!first || first->ticket != 0) serve_next(name, {}, told);
    }
    statement(database_.get(), "DELETE FROM session WHERE id = ?").bind(1, sessions_.own()).run();
    change.keep();
  } catch (...) {  // whoever comes next tidies up
    told.clear();
  }
  return told;
}

std::optional<ledger::row> ledger::first_of(const std::string& name, std::int64_t from_ticket) {
  first_.bind(1, name).bind(2, from_ticket);
  std::optional<row> is;
  if (first_.step()) {
    is = row{first_.number(0), owner_in(first_.bytes(1)), first_.number(2),
             first_.number(3), first_.number(4),          std::string(first_.bytes(5))};
  }
  first_.reset();
  return is;
}

/// Its ticket alone does not tell: when it was granted, the number may have gone to somebody else.
bool ledger::waits(const entry& me) {
  if (me.ticket == 0) return false;
  const std::optional<row> there = first_of(me.name, me.ticket);
  return there && there->ticket == me.ticket && there->owner == me.owner;
}

bool ledger::counts(const row& r) const {
  return r.expires > nanoseconds(boot_clock::now()) && sessions_.alive(r.session);
}

void ledger::remove(const std::string& name, std::int64_t ticket) { remove_.bind(1, name).bind(2, ticket).run(); }

/// Nobody holds the name: the first who waits and lives gets it. False: nobody, or it is `except`, who is here to take
/// it.
bool ledger::serve_next(const std::string& name, const std::optional<owner_bytes>& except, std::vector<summons>& told) {
  for (;;) {
    const std::optional<row> next = first_of(name, 1);
    if (!next || next->owner == except) return false;
    if (!sessions_.alive(next->session)) {
      remove(name, next->ticket);
      continue;
    }
    const std::int64_t expires = next->ttl == 0 ? for_ever : nanoseconds(boot_clock::now() + milliseconds(next->ttl));
    promote_.bind(1, expires).bind(2, name).bind(3, next->ticket).run();
    told.push_back({next->session, {.owner = next->owner, .fence = mint(), .expires = expires}});
    return true;
  }
}

void ledger::hold(const entry& me, bool already) {
  if (waits(me)) remove(me.name, me.ticket);
  const std::int64_t expires = me.fixed ? nanoseconds(boot_clock::now() + me.ttl) : for_ever;
  if (already) {  // it may last longer, never shorter
    extend_.bind(1, expires).bind(2, me.name).run();
    return;
  }
  insert_.bind(1, me.name).bind(2, std::int64_t{0}).bind(3, bytes_of(me.owner)).bind(4, sessions_.own());
  insert_.bind(5, me.fixed ? me.ttl.count() : 0).bind(6, expires).bind(7, me.label).run();
}

/// A block of fences: not lower than the clock, and above all that were minted before, also if the machine lost power
/// meanwhile: then it goes on behind what was reserved.
std::uint64_t ledger::mint() {
  const bool there = mint_.step();
  const std::int64_t last = there ? mint_.number(0) : 0;
  std::int64_t reserved = there ? mint_.number(1) : 0;
  mint_.reset();
  if (!there) {  // fences may have been used that we know nothing of
    throw seam::failure(errc::foreign, folder_.file("locks.db") +
                                           " does not say which fences were used; it is damaged, so move it away when "
                                           "no lock is held");
  }
  const std::int64_t first = std::max(last + 1, wall_microseconds());
  const std::int64_t end = first + static_cast<std::int64_t>(fences_in_a_block) - 1;
  if (end > reserved) reserved_to_ = reserved = end + reserve_ahead;
  minted_.bind(1, end).bind(2, reserved).run();
  return static_cast<std::uint64_t>(first);
}

process ledger::ahead_of(const std::string& name, std::int64_t ticket, const row& holder) {
  before_.bind(1, name).bind(2, ticket);
  process is{.session = before_.step() ? before_.number(0) : holder.session};
  before_.reset();
  process_.bind(1, is.session);
  if (process_.step()) is = process{is.session, process_.number(0), process_.number(1)};
  process_.reset();
  return is;
}

}  // namespace holdfast::directory
