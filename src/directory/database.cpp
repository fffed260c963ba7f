#include "directory/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "directory/reserve.hpp"
#include "runtime/fork.hpp"
#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t version = 3;
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
      throw storage::failure(errc::foreign,
                             words + " (the file is damaged, or not ours; move it away when no lock is held)");
    case SQLITE_CANTOPEN:
      throw storage::failure(errc::not_ready, words + " (is the directory writable, and are file descriptors left?)");
    default: throw storage::failure(errc::not_ready, words);
  }
}

/// How many are open, and in which generation of forks they were opened. One word, and no mutex: a fork may happen at
/// any time.
struct count {
  unsigned generation;
  int open;
};
std::atomic<count> counted{count{0, 0}};
static_assert(std::atomic<count>::is_always_lock_free);

}  // namespace

census::census() {
  const unsigned now = runtime::fork_generation();
  count before = counted;
  do {
    if (before.generation != now && before.open != 0) {
      throw storage::failure(errc::forked,
                             "a directory was open when this process was forked; open it in the child only, "
                             "or let the child exec");
    }
  } while (!counted.compare_exchange_weak(before, count{now, before.open + 1}));
}

census::~census() {
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

database::database(const folder& in, writers& one, const sessions& living) : path_(in.file("locks.db")), files_(in) {
  const writers::turn ours(one, boot_clock::now() + 5s);
  reserve fences(in);
  if (!fences.is_new() && fences.of_another_boot()) {  // nobody who is in it lives, and it may be damaged
    for (const char* each : files_of_sqlite) in.remove(each);
    fences.extend_to(fences.end());  // only now: whoever finds no database begins one behind them
  }
  in.make_file("locks.db");  // for us alone; SQLite would ask the umask
  open();
  make_tables(fences, living);
  // Last: if this client is killed before, the next one starts over.
  if (fences.is_new()) fences.extend_to(number_of("SELECT reserved FROM mint"));
  files_.add("sessions", living.file());
  for (const char* each : files_of_sqlite) files_.add(each, in.identify(each));
}

void database::open() {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &opened, flags, nullptr);
  database_.reset(opened);  // there is one also where that failed
  if (code != SQLITE_OK) fail(opened, path_);
  sqlite3_busy_timeout(opened, 2'000);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = OFF");        // what a loss of power destroys is void then; see reserve.hpp
  run("PRAGMA wal_autocheckpoint = 64");  // the log stays short: to copy it back costs next to nothing
}

void database::closing::operator()(sqlite3* opened) const noexcept { sqlite3_close_v2(opened); }

void database::run(const char* sql) {
  if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(get(), path_);
}

void database::wait_for_strangers(instant until) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  sqlite3_busy_timeout(get(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 2'000)));
}

bool database::in_transaction() const noexcept { return sqlite3_get_autocommit(get()) == 0; }

std::int64_t database::number_of(const char* sql) const {
  return statement(get(), sql).row<std::int64_t>().value_or(0);
}

void database::make_tables(const reserve& fences, const sessions& living) {
  const std::int64_t found = number_of("PRAGMA user_version");
  const std::int64_t mark = number_of("PRAGMA application_id");
  // The mark comes with the tables, in one transaction.
  if (mark != our_mark && (mark != 0 || found != 0 || number_of("SELECT count(*) FROM sqlite_master") != 0)) {
    throw storage::failure(errc::foreign, path_ + " is a database of something else");
  }
  const auto written_by = [&](const char* which) {
    return path_ + " was written by " + which + " version of Holdfast (" + std::to_string(found) + ", we know " +
           std::to_string(version) + ")";
  };
  if (found > version) throw storage::failure(errc::foreign, written_by("a newer"));
  const bool in_use = living.anybody();
  // Without the file of the fences nobody knows in which boot the tables were written.
  if (found == version && (in_use || !fences.is_new())) return;
  if (in_use && found == 0) {
    throw storage::failure(errc::foreign, path_ + " was deleted or replaced while clients use it; end them");
  }
  if (in_use) {
    throw storage::failure(errc::foreign, written_by("an older") + ", and is in use; end those who have it open");
  }
  std::int64_t last_fence = fences.end();
  if (found != 0) last_fence = std::max(last_fence, number_of("SELECT reserved FROM mint"));
  start_over(last_fence);
}

/// Nobody who is in the tables lives. What remains is how far fences were used.
void database::start_over(std::int64_t last_fence) {
  run("BEGIN IMMEDIATE");
  for (const char* each : {"place", "session", "mint", "cell", "watcher", "note"}) {
    run((std::string("DROP TABLE IF EXISTS ") + each).c_str());
  }
  // Who holds has its session in `held`; who waits has a growing ticket. The row with neither is of all who hold: its
  // part is the sum of theirs. Fixed leases are found by their end.
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
