#pragma once
#include <optional>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/message.hpp"
#include "holdfast/state.hpp"

namespace holdfast::directory {

/// The rows that say who asked those who hold a name to let go, and who took it by force: the last of each kind, for a
/// day.
class notes {
 public:
  /// Only where somebody does such things. In a transaction of its own.
  static void make_table(database&);
  [[nodiscard]] static bool has_table(const database&);
  explicit notes(const database&);

  enum class kind { asked = 1, broken = 2 };
  struct record {
    state::note is;                   ///< with its time
    owner_bytes id{};                 ///< of the call
    std::vector<owner_bytes> whom{};  ///< the claims that were meant
  };
  [[nodiscard]] std::optional<record> find(const std::string& name, kind);
  /// Also forgets some others that are too old.
  void put(const std::string& name, kind, const record&);

 private:
  statement find_, put_, forget_;
};

}  // namespace holdfast::directory
