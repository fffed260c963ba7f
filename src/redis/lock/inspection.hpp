#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/state.hpp"
#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// What scripts/inspect.lua answers of one name, read as a state.
struct inspection {
  state is;
  std::vector<std::string> inboxes;  ///< of all who are listed, holders first; of another library's empty

  /// Nothing: the answer makes no sense.
  [[nodiscard]] static std::optional<inspection> of(const value& answer);
  /// Host, process and program of each inbox, in that order, as far as they are known, from this one on. Where those of
  /// others begin.
  std::size_t introduce(const value& records, std::size_t from = 0);

 private:
  [[nodiscard]] bool add(state::party&, std::string_view owner);  // false: it is none of ours
};

}  // namespace holdfast::redis
