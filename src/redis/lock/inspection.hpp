#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/state.hpp"
#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// The state of one lock, from the reply of scripts/inspect.lua.
struct inspection {
  state is;
  std::vector<std::string> inboxes;  ///< of all listed clients, holders first; empty for another library

  /// Returns nothing if the reply is malformed.
  [[nodiscard]] static std::optional<inspection> of(const value& answer);
  /// Fills in host, process and program of each client, from its record: the first one is `records[from]`. Returns the
  /// index of the first record that is not of this lock.
  std::size_t introduce(const value& records, std::size_t from = 0);

 private:
  [[nodiscard]] bool add(state::party&, std::string_view owner);  // false if it is not ours
};

}  // namespace holdfast::redis
