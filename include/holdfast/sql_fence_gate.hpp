#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast {

/// The resource's side of a fence for the rows of a table: SQL, with named parameters, for whatever driver runs it.
///
///     CREATE TABLE seats (id TEXT PRIMARY KEY, fence BIGINT NOT NULL DEFAULT 0, owner TEXT)
///
/// Every statement is about the row :key, and changes it only if :fence is not lower than the highest that the row has
/// seen. One row changed: admitted. None: refused, or there is no such row. (MySQL counts rows that were found only
/// with CLIENT_FOUND_ROWS, as most drivers set it.) All but upsert() is plain SQL; that one is of SQLite and
/// PostgreSQL.
class sql_fence_gate {
 public:
  /// Names as they stand in SQL without quotes: letters, digits and underscores. Throws std::invalid_argument.
  sql_fence_gate(std::string_view table, std::string_view key, std::string_view fence = "fence");

  [[nodiscard]] std::string predicate() const;  ///< "fence <= :fence", for a WHERE of your own
  /// For a read: this, and then the SELECT, in one transaction. From then on the row refuses older holders.
  [[nodiscard]] std::string raise() const;
  /// Sets columns to parameters of the same name: update({"owner"}) sets owner to :owner. Throws std::invalid_argument
  /// for a name as above, and for one whose parameter is taken: the key, the fence, "key", "fence".
  [[nodiscard]] std::string update(std::initializer_list<std::string_view> columns) const;
  /// The same for a row that may not be there yet. upsert({}) is the raise() for a read of such a row.
  [[nodiscard]] std::string upsert(std::initializer_list<std::string_view> columns) const;

 private:
  std::string table_, key_, fence_;
};

}  // namespace holdfast
