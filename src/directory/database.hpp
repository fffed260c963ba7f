#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "directory/file_watch.hpp"
#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "directory/writer_lock.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::directory {

class fence_reserve;

/// A column of the current row. It converts to integers, to strings and to containers of bytes or ids. Another
/// program may have changed the file: a value that is missing reads as zero.
class column {
 public:
  column(sqlite3_stmt* row, int index) noexcept : row_(row), index_(index) {}
  template <class T>
  operator T() const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(number());
    } else {
      constexpr std::size_t size = sizeof(typename T::value_type);
      const std::span<const std::byte> from = bytes();
      T to{};
      if constexpr (requires { to.resize(size); }) to.resize(from.size() / size);
      if (!from.empty()) std::memcpy(to.data(), from.data(), std::min(from.size(), to.size() * size));
      return to;
    }
  }

 private:
  [[nodiscard]] std::int64_t number() const noexcept;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  sqlite3_stmt* row_;
  int index_;
};

/// A prepared statement. Each call binds its values in order, and leaves the statement ready for the next one. Errors
/// are storage::failures.
class statement {
 public:
  statement(sqlite3*, const char* sql);
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement();

  template <class... Values>
  void run(const Values&... values) {
    const binding ours(*this, values...);
    while (step()) {
    }
  }
  /// The first row, if there is one. A struct is made of the columns in order.
  template <class T, class... Values>
  [[nodiscard]] std::optional<T> row(const Values&... values) {
    const binding ours(*this, values...);
    if (!step()) return std::nullopt;
    return read<T>();
  }
  template <class T, class... Values>
  [[nodiscard]] std::vector<T> rows(const Values&... values) {
    const binding ours(*this, values...);
    std::vector<T> all;
    while (step()) all.push_back(read<T>());
    return all;
  }

 private:
  /// The values of one call; it resets the statement at its end.
  class binding {
   public:
    template <class... Values>
    explicit binding(statement& s, const Values&... values) : statement_(s) {
      int at = 0;
      (s.bind(++at, values), ...);
    }
    binding(const binding&) = delete;
    binding& operator=(const binding&) = delete;
    ~binding() { statement_.reset(); }

   private:
    statement& statement_;
  };

  template <class T>
  void bind(int at, const T& value) noexcept {
    if constexpr (std::is_integral_v<T>) {
      bind_number(at, static_cast<std::int64_t>(value));
    } else {
      bind_bytes(at, std::as_bytes(std::span(value)));
    }
  }
  void bind_number(int at, std::int64_t) noexcept;
  void bind_bytes(int at, std::span<const std::byte>) noexcept;  ///< not copied
  [[nodiscard]] bool step();                                     ///< returns true if there is a row
  void reset() noexcept;

  template <class T>
  [[nodiscard]] T read() const {
    if constexpr (std::is_aggregate_v<T>) {
      return read<T>(std::make_integer_sequence<int, fields<T>()>());
    } else {
      return column(statement_, 0);
    }
  }
  template <class T, int... index>
  [[nodiscard]] T read(std::integer_sequence<int, index...>) const {
    return T{column(statement_, index)...};
  }
  /// The number of fields of T.
  template <class T, class... Columns>
  [[nodiscard]] static constexpr int fields() noexcept {
    if constexpr (requires { T{std::declval<Columns>()..., std::declval<column>()}; }) {
      return fields<T, Columns..., column>();
    } else {
      return sizeof...(Columns);
    }
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Counts the databases that this process has open. A forked child must not use SQLite if its parent had one open: it
/// inherits SQLite's memory, but neither the kernel's locks that this memory describes nor the threads that may have
/// been changing it.
class fork_guard {
 public:
  fork_guard();  ///< throws storage::failure(forked) in such a child
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;
  ~fork_guard();
};

/// The SQLite file of a store, with its tables. Errors are storage::failures that say what to do.
class database {
 public:
  /// Opens it as the one writer, because SQLite's own lock sometimes does not wait when many processes open a file at
  /// once. Tables of an older version are replaced if no client uses them.
  database(const folder&, writer_lock&, const sessions&);
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  [[nodiscard]] sqlite3* get() const noexcept { return database_.get(); }
  void run(const char* sql);
  [[nodiscard]] bool in_transaction() const noexcept;
  /// Bounds the wait for another program that has the file locked: until `until`, but at most two seconds.
  void limit_busy_wait(instant until) noexcept;
  [[nodiscard]] opened_files& files() noexcept { return files_; }

 private:
  void open();
  [[nodiscard]] std::int64_t read_number(const char* sql) const;
  void make_tables(const fence_reserve&, const sessions&);
  void start_over(std::int64_t last_fence);
  struct closing {
    void operator()(sqlite3*) const noexcept;
  };
  const std::string path_;
  const fork_guard guard_;
  std::unique_ptr<sqlite3, closing> database_;
  opened_files files_;
};

}  // namespace holdfast::directory
