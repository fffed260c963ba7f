#include "directory/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>

#include "directory/reserve.hpp"
#include "runtime/fork.hpp"
#include "store/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t version = 1;
constexpr std::int64_t our_mark = 0x486f6c64;  // "Hold"

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const std::string words = path + ": " + sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_FULL: throw seam::failure(errc::not_ready, words + " (the disk is full; free some space)");
    case SQLITE_READONLY: throw seam::failure(errc::denied, words + " (the file system or the file is read-only)");
    case SQLITE_PERM:
    case SQLITE_AUTH: throw seam::failure(errc::denied, words);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw seam::failure(errc::foreign,
                          words + " (the file is damaged, or not ours; move it away when no lock is held)");
    case SQLITE_CANTOPEN:
      throw seam::failure(errc::not_ready, words + " (is the directory writable, and are file descriptors left?)");
    default: throw seam::failure(errc::not_ready, words);
  }
}

/// How many databases this process has open. A fork inherits what SQLite knows of them, but not the kernel's locks that
/// this knowledge is about, nor the threads that may have been changing it: it must not touch SQLite any more.
class census {
 public:
  static void enter() noexcept { ++open_; }
  static void leave() noexcept { --open_; }
  static void refuse_heirs() {
    const unsigned now = runtime::fork_generation();
    if (generation_ != now && open_ != 0) {
      throw seam::failure(errc::forked,
                          "a directory was open when this process was forked; open it in the child only, "
                          "or let the child exec");
    }
    generation_ = now;
  }

 private:
  static inline std::atomic<unsigned> generation_{0};
  static inline std::atomic<int> open_{0};
};

}  // namespace

statement::statement(sqlite3* database, const char* sql) : database_(database) {
  if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK) {
    fail(database, sqlite3_db_filename(database, "main"));
  }
}

statement::~statement() { sqlite3_finalize(statement_); }

statement& statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
  return *this;
}

statement& statement::bind(int at, std::string_view bytes) {
  sqlite3_bind_blob(statement_, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
  return *this;
}

bool statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3_reset(statement_);
  fail(database_, sqlite3_db_filename(database_, "main"));
}

void statement::run() {
  while (step()) {
  }
  reset();
}

void statement::reset() noexcept { sqlite3_reset(statement_); }

std::int64_t statement::number(int column) const noexcept { return sqlite3_column_int64(statement_, column); }

std::string statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data == nullptr ? std::string()
                         : std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

database::database(const folder& in, writers& one) : path_(in.file("locks.db")) {
  census::refuse_heirs();
  if (!one.lock(boot_clock::now() + 5s)) {
    throw seam::failure(errc::unreachable, "process " + std::to_string(one.last()) + " is in the middle of a write");
  }
  try {
    reserve fences(in);
    if (!fences.is_new() && fences.of_another_boot()) {  // nobody who is in it lives, and it may be damaged
      for (const char* each : {"locks.db", "locks.db-wal", "locks.db-shm"}) in.remove(each);
    }
    in.make_file("locks.db");  // for us alone; SQLite would ask the umask
    open(fences.end());
    census::enter();
    if (!fences.is_new() && fences.of_another_boot()) fences.extend_to(fences.end());
  } catch (...) {
    one.unlock();
    throw;
  }
  one.unlock();
}

void database::open(std::int64_t last_fence) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  try {
    if (sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr) != SQLITE_OK) fail(database_, path_);
    sqlite3_busy_timeout(database_, 2'000);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = OFF");        // what a loss of power destroys is void then; see reserve.hpp
    run("PRAGMA wal_autocheckpoint = 64");  // the log stays short: to copy it back costs next to nothing
    make_tables(last_fence);
    identity_ = std::make_unique<identity>(path_);
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

database::~database() {
  sqlite3_close_v2(database_);
  census::leave();
}

void database::run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(database_, path_);
}

void database::wait_for_strangers(instant until) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  sqlite3_busy_timeout(database_, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 2'000)));
}

bool database::in_transaction() const noexcept { return sqlite3_get_autocommit(database_) == 0; }

void database::make_tables(std::int64_t last_fence) {
  const auto number_of = [&](const char* pragma) {
    statement asked(database_, pragma);
    return asked.step() ? asked.number(0) : 0;
  };
  const std::int64_t found = number_of("PRAGMA user_version");
  if (found == version && number_of("PRAGMA application_id") == our_mark) return;
  if (found > version) {
    throw seam::failure(errc::foreign, path_ + " was written by a newer version of Holdfast (" + std::to_string(found) +
                                           ", we know " + std::to_string(version) + ")");
  }
  const std::int64_t mark = number_of("PRAGMA application_id");
  if (found != 0 || (mark != 0 && mark != our_mark))
    throw seam::failure(errc::foreign, path_ + " is a database of something else");
  // A lock's holder has the ticket 0, those who wait have growing ones: the first rows of a name are all one ever
  // needs.
  run("BEGIN IMMEDIATE;"
      "CREATE TABLE IF NOT EXISTS place(name BLOB, ticket INTEGER, owner BLOB NOT NULL, session INTEGER NOT NULL,"
      "  ttl INTEGER NOT NULL, expires INTEGER NOT NULL, label BLOB NOT NULL, PRIMARY KEY(name, ticket)) WITHOUT ROWID;"
      "CREATE TABLE IF NOT EXISTS session(id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL,"
      "  namespace INTEGER NOT NULL, program BLOB NOT NULL);"
      "CREATE TABLE IF NOT EXISTS mint(one INTEGER PRIMARY KEY CHECK(one = 1), last INTEGER NOT NULL,"
      "  reserved INTEGER NOT NULL);"
      "PRAGMA application_id = 1215261796;"
      "PRAGMA user_version = 1");
  statement(database_, "INSERT OR IGNORE INTO mint VALUES(1, ?1, ?1)").bind(1, last_fence).run();
  run("COMMIT");
}

}  // namespace holdfast::directory
