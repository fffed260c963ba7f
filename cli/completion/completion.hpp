#pragma once
#include <string>
#include <vector>

#include "command.hpp"

namespace holdfast::cli {

/// `holdfast complete -- WORD...`, which the shells ask when Tab is pressed: how the last word may go on, if the others
/// stand before it. One candidate a line, and behind a tab what it is. The answer comes from the description that the
/// arguments are parsed with, so it cannot be out of date. See command.hpp.
[[nodiscard]] command_spec describe_completion(const program_spec&, const user_command& after_dashes);

struct candidate {
  std::string word{};
  std::string about{};
};

/// How the last of these words may go on. They are what stands behind "holdfast".
[[nodiscard]] std::vector<candidate> candidates(const program_spec&, const std::vector<std::string>& words);

/// The names in a store (empty: the one that is meant without --store) that begin so, as `holdfast ls --json` lists
/// them. Somebody has pressed Tab: a store that does not answer within a second has none.
[[nodiscard]] std::vector<candidate> lock_names(const std::string& store, const std::string& prefix);

}  // namespace holdfast::cli
