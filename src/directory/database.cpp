#include "directory/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "directory/fences.hpp"
#include "runtime/fork.hpp"
#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t table_version = 3;
constexpr std::int64_t our_mark = 0x486f6c64;  // "Hold"

constexpr std::array<const char*, 3> files_of_sqlite{"locks.db", "locks.db-wal", "locks.db-shm"};

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const std::string words = path + ": " + sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_FULL: throw storage::failure(errc::not_ready, words + " (the disk is full; free some space)");
    case SQLITE_READONLY: throw storage::failure(errc::denied, words + " (the file system or the file is read-only)");
    case SQLITE_PERM:
    case SQLITE_AUTH: throw storage::failure(errc::denied, words);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw storage::failure(
          errc::foreign,
          words + " (the file is damaged or belongs to another program; move it away when no lock is held)");
    case SQLITE_CANTOPEN:
      throw storage::failure(errc::not_ready, words + " (is the directory writable, and are file descriptors left?)");
    default: throw storage::failure(errc::not_ready, words);
  }
}

/// The number of open databases, and the generation of forks in which they were opened. One atomic word instead of a
/// mutex, because a fork may happen at any time.
struct count {
  unsigned generation;
  int open;
};
std::atomic<count> counted{count{0, 0}};
static_assert(std::atomic<count>::is_always_lock_free);

}  // namespace

fork_guard::fork_guard() {
  const unsigned now = runtime::fork_generation();
  count before = counted;
  do {
    if (before.generation != now && before.open != 0) {
      throw storage::failure(
          errc::forked,
          "this process was forked while a directory store was open; open the store in the child only, "
          "or let the child exec");
    }
  } while (!counted.compare_exchange_weak(before, count{now, before.open + 1}));
}

fork_guard::~fork_guard() {
  count before = counted;
  while (!counted.compare_exchange_weak(before, count{before.generation, before.open - 1})) {
  }
}

statement::statement(sqlite3* database, const char* sql) : database_(database) {
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK) {
    fail(database, sqlite3_db_filename(database, "main"));
  }
}

statement::~statement() { sqlite3_finalize(statement_); }

void statement::bind_number(int at, std::int64_t value) noexcept { sqlite3_bind_int64(statement_, at, value); }

void statement::bind_bytes(int at, std::span<const std::byte> bytes) noexcept {
  const void* const data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());  // a null pointer means NULL
  sqlite3_bind_blob(statement_, at, data, static_cast<int>(bytes.size()), SQLITE_STATIC);
}

bool statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3_reset(statement_);
  fail(database_, sqlite3_db_filename(database_, "main"));
}

void statement::reset() noexcept { sqlite3_reset(statement_); }

std::int64_t column::number() const noexcept { return sqlite3_column_int64(row_, index_); }

std::span<const std::byte> column::bytes() const noexcept {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(row_, index_));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(row_, index_))};
}

database::database(const folder& in, writer_lock& writers, const sessions& alive)
    : path_(in.file("locks.db")), files_(in) {
  const writer_lock::turn ours(writers, boot_clock::now() + 5s);
  fence_reserve fences(in);
  if (!fences.is_new() && fences.of_another_boot()) {  // all its sessions are dead, and it may be damaged
    for (const char* each : files_of_sqlite) in.remove(each);
    fences.extend_to(fences.end());  // after the removal: a client that finds no database creates one
  }
  in.make_file("locks.db");  // readable by this user only; SQLite would use the umask
  open();
  make_tables(fences, alive);
  // This comes last: if this client is killed before it, the next one starts over.
  if (fences.is_new()) fences.extend_to(read_number("SELECT reserved FROM mint"));
  files_.add("sessions", alive.file());
  for (const char* each : files_of_sqlite) files_.add(each, in.identify(each));
}

void database::open() {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &opened, flags, nullptr);
  database_.reset(opened);  // set even if opening failed
  if (code != SQLITE_OK) fail(opened, path_);
  sqlite3_busy_timeout(opened, 2'000);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = OFF");        // after a power loss this data is void; see fences.hpp
  run("PRAGMA wal_autocheckpoint = 64");  // a short log costs little to copy back
}

void database::closing::operator()(sqlite3* opened) const noexcept { sqlite3_close_v2(opened); }

void database::run(const char* sql) {
  if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(get(), path_);
}

void database::limit_busy_wait(instant until) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  sqlite3_busy_timeout(get(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 2'000)));
}

bool database::in_transaction() const noexcept { return sqlite3_get_autocommit(get()) == 0; }

std::int64_t database::read_number(const char* sql) const {
  return statement(get(), sql).row<std::int64_t>().value_or(0);
}

void database::make_tables(const fence_reserve& fences, const sessions& alive) {
  const std::int64_t found = read_number("PRAGMA user_version");
  const std::int64_t mark = read_number("PRAGMA application_id");
  // The mark is written in one transaction with the tables.
  if (mark != our_mark && (mark != 0 || found != 0 || read_number("SELECT count(*) FROM sqlite_master") != 0)) {
    throw storage::failure(errc::foreign, path_ + " is a database of another program");
  }
  const auto written_by = [&](const char* which) {
    return path_ + " was written by " + which + " version of Holdfast (format " + std::to_string(found) +
           ", this version knows " + std::to_string(table_version) + ")";
  };
  if (found > table_version) throw storage::failure(errc::foreign, written_by("a newer"));
  const bool in_use = alive.any_other();
  // Without the file "fences" it is unknown in which boot the tables were written.
  if (found == table_version && (in_use || !fences.is_new())) return;
  if (in_use && found == 0) {
    throw storage::failure(errc::foreign, path_ + " was deleted or replaced while clients use it; stop them");
  }
  if (in_use) {
    throw storage::failure(errc::foreign,
                           written_by("an older") + " and is in use; stop the clients that have it open");
  }
  std::int64_t last_fence = fences.end();
  if (found != 0) last_fence = std::max(last_fence, read_number("SELECT reserved FROM mint"));
  start_over(last_fence);
}

/// Replaces tables whose sessions are all dead. Only the fences go on where they were.
void database::start_over(std::int64_t last_fence) {
  run("BEGIN IMMEDIATE");
  for (const char* each : {"place", "session", "mint", "cell", "watcher", "note"}) {
    run((std::string("DROP TABLE IF EXISTS ") + each).c_str());
  }
  // A holder has its session in `held`, a waiter has a growing ticket. The row with neither is the sum of all holders.
  // Fixed leases are indexed by their expiry.
  run("CREATE TABLE IF NOT EXISTS place(name BLOB, held INTEGER, ticket INTEGER, owner BLOB, session INTEGER NOT NULL,"
      "  part INTEGER NOT NULL, whole INTEGER NOT NULL, fence INTEGER NOT NULL, ttl INTEGER NOT NULL,"
      "  expires INTEGER NOT NULL, label BLOB NOT NULL, delay INTEGER NOT NULL, PRIMARY KEY(name, held, ticket, "
      "owner)) WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS fixed ON place(name, expires) WHERE expires < 4611686018427387904;"
      "CREATE TABLE IF NOT EXISTS session(id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL,"
      "  namespace INTEGER NOT NULL);"
      "CREATE TABLE IF NOT EXISTS mint(one INTEGER PRIMARY KEY CHECK(one = 1), last INTEGER NOT NULL,"
      "  reserved INTEGER NOT NULL);"
      "PRAGMA application_id = 1215261796;"
      "PRAGMA user_version = 3");
  statement(get(), "INSERT OR IGNORE INTO mint VALUES(1, ?1, ?1)").run(last_fence);
  run("COMMIT");
}

}  // namespace holdfast::directory
