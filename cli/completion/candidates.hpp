#pragma once
#include <string>
#include <vector>

#include "command.hpp"

namespace holdfast::cli {

struct candidate {
  std::string word{};
  std::string about{};
};

/// How the last of these words may go on. They are what stands behind "holdfast".
[[nodiscard]] std::vector<candidate> candidates(const program_spec&, const std::vector<std::string>& words);

}  // namespace holdfast::cli
