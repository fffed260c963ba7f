#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/gathering.hpp"
#include "directory/message.hpp"
#include "directory/sessions.hpp"
#include "storage/cell_record.hpp"

namespace holdfast::directory {

/// The rows of cells, and of those who wait for a change of one. Times are in microseconds on the boot clock: what is
/// in the files is void after a restart of the machine.
class cells {
 public:
  /// Only where somebody uses them. In a transaction of its own.
  static void make_tables(database&);
  explicit cells(const database&);

  [[nodiscard]] std::optional<storage::cell_record> find(const std::string& name);
  /// Also forgets some others whose time is long over.
  void save(const std::string& name, const storage::cell_record&, std::int64_t now);

  /// It will be among those to be told, until then; a day's crowd of those who died is not kept.
  void watch(const std::string& name, const owner_bytes&, session_id, std::int64_t until, std::int64_t now);
  /// All who wait for this one, for once.
  [[nodiscard]] std::vector<summons> take_watchers(const std::string& name);

 private:
  statement find_, save_, forget_, watch_, forget_watchers_, take_watchers_;
};

}  // namespace holdfast::directory
