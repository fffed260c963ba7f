#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "directory/folder.hpp"
#include "directory/opened_files.hpp"
#include "directory/sessions.hpp"
#include "directory/writers.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::directory {

class reserve;

/// One prepared statement. Bind, step, read, and it resets itself at the end of run().
class statement {
 public:
  statement(sqlite3*, const char* sql);
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement();

  statement& bind(int at, std::int64_t);
  statement& bind(int at, std::string_view bytes);
  /// True: a row is there.
  [[nodiscard]] bool step();
  void run();  ///< to the end, and resets
  void reset() noexcept;
  [[nodiscard]] std::int64_t number(int column) const noexcept;
  [[nodiscard]] std::string_view bytes(int column) const noexcept;  ///< valid until the next step() or reset()

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Counts the databases that this process has open. A fork inherits what SQLite knows of them, but not the kernel's
/// locks that this knowledge is about, nor the threads that may have been changing it: it must not touch SQLite any
/// more.
class census {
 public:
  census();  ///< one more; throws storage::failure(forked) in the heir of a process that had one open
  census(const census&) = delete;
  census& operator=(const census&) = delete;
  ~census();
};

/// The SQLite file of a store, with its tables. All errors are storage::failures that say what to do.
class database {
 public:
  /// Opened as the one writer: SQLite's own lock does not wait where it should when many open a file at once.
  /// What an older version has left is begun anew if nobody is in it.
  database(const folder&, writers&, const sessions&);
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  [[nodiscard]] sqlite3* get() const noexcept { return database_.get(); }
  void run(const char* sql);
  [[nodiscard]] bool in_transaction() const noexcept;
  /// Somebody who is none of us may have it locked: wait until then, two seconds at most.
  void wait_for_strangers(instant until) noexcept;
  [[nodiscard]] opened_files& files() noexcept { return files_; }

 private:
  void open();
  [[nodiscard]] std::int64_t number_of(const char* sql) const;
  void make_tables(const reserve&, const sessions&);
  void start_over(std::int64_t last_fence);
  struct closing {
    void operator()(sqlite3*) const noexcept;
  };
  const std::string path_;
  const census counted_;
  std::unique_ptr<sqlite3, closing> database_;
  opened_files files_;
};

}  // namespace holdfast::directory
