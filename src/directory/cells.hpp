#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/inbox.hpp"
#include "storage/cell_record.hpp"

namespace holdfast::directory {

/// The rows of cells, and of the claims that wait for a change of one. Times are in microseconds on the boot clock:
/// what is in the files is void after a restart of the machine.
class cells {
 public:
  /// Called when a cell is first used. Needs a transaction of its own.
  static void make_tables(database&);
  explicit cells(const database&);

  [[nodiscard]] std::optional<storage::cell_record> find(const std::string& name);
  /// Also removes some cells that ended long ago.
  void save(const std::string& name, const storage::cell_record&, std::int64_t now);

  /// Adds a watcher of the cell until `until`. Also removes some that have expired.
  void watch(const std::string& name, const owner_bytes&, session_id, std::int64_t until, std::int64_t now);
  /// Removes all watchers of the cell. Returns the messages to them.
  [[nodiscard]] std::vector<notification> take_watchers(const std::string& name);

 private:
  statement find_, save_, forget_, watch_, forget_watchers_, take_watchers_;
};

}  // namespace holdfast::directory
