#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

struct candidate {
  std::string word{};
  std::string about{};
};

/// How the last of these words may go on. They are what stands behind "holdfast".
[[nodiscard]] std::vector<candidate> candidates(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace holdfast::cli
