#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "bench/raw.hpp"

namespace holdfast::cli {

namespace {

/// A database beside those of the store. It has no name once it is open: whoever kills us leaves nothing behind.
class scratch_database {
 public:
  explicit scratch_database(const std::string& folder) {
    std::string name = folder + "/holdfast-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + folder);
    path_ = name;
    if (sqlite3_open((path_ + "/bare.db").c_str(), &database_) != SQLITE_OK) close_and_throw();
    // As the documents of SQLite recommend. The store of the library does more, and waits for the disk less.
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE held(name BLOB PRIMARY KEY)");
    insert_ = prepared("INSERT INTO held VALUES(x'00')");
    remove_ = prepared("DELETE FROM held");
    remove_names();  // all its files are open by now, the journal since there is a table
  }
  scratch_database(const scratch_database&) = delete;
  scratch_database& operator=(const scratch_database&) = delete;
  ~scratch_database() { close(); }

  /// A row, and no row: as for a lock that is taken and given back.
  void two_transactions() {
    for (sqlite3_stmt* const each : {insert_, remove_}) {
      if (sqlite3_step(each) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database_));
      sqlite3_reset(each);
    }
  }

 private:
  void close() noexcept {
    sqlite3_finalize(insert_);
    sqlite3_finalize(remove_);
    sqlite3_close(database_);
  }
  void remove_names() const noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[noreturn]] void close_and_throw() {
    const std::string why = sqlite3_errmsg(database_);
    close();
    remove_names();
    throw std::runtime_error(why);
  }
  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) close_and_throw();
  }
  sqlite3_stmt* prepared(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_, sql, -1, &made, nullptr) != SQLITE_OK) close_and_throw();
    return made;
  }

  std::string path_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* remove_ = nullptr;
};

}  // namespace

raw_round_trip bare_transactions(const std::string& url) {
  constexpr std::string_view scheme = "dir:";
  if (url.rfind(scheme, 0) != 0) throw std::runtime_error("no directory");
  const auto database = std::make_shared<scratch_database>(url.substr(scheme.size()));
  return {"two bare SQLite transactions", [database] { database->two_transactions(); }};
}

}  // namespace holdfast::cli
