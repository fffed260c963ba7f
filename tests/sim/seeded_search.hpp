#pragma once
// Seeded bugs, and the seeds that find them. The seed that found a bug is recorded, so that it is looked for there
// first: a search from seed 1 takes minutes over all bugs.
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/bugs.hpp"
#include "sim/run.hpp"

namespace holdfast::sim {

/// Switches one seeded bug on for as long as it lives.
class with_bug {
 public:
  explicit with_bug(bug b) noexcept { seeded_bug = b; }
  ~with_bug() { seeded_bug = bug::none; }
  with_bug(const with_bug&) = delete;
  with_bug& operator=(const with_bug&) = delete;
};

/// True if a violation, "I8, I10: text", names the invariant.
[[nodiscard]] inline bool names(const std::string& violation, std::string_view invariant) {
  const std::string all = violation.substr(0, violation.find(':')) + ",";
  return all.find(std::string(invariant) + ",") != std::string::npos;
}

/// True if the world of this seed shows the bug by the invariant that must see it.
[[nodiscard]] inline bool finds(std::uint64_t seed, const named_bug& b) {
  const with_bug on(b.what);
  return names(run(seed, b.where).violation, b.breaks);
}

struct search_result {
  std::optional<std::uint64_t> seed;  ///< empty if none of the seeds finds the bug
  std::string violation;
  std::map<std::string, int> others;  ///< in how many worlds other invariants saw it first
};

/// The most seeds that a search runs.
inline constexpr std::uint64_t enough_seeds = 20'000;

/// The first seed that finds the bug.
[[nodiscard]] inline search_result search(const named_bug& b) {
  const with_bug on(b.what);
  search_result all;
  for (std::uint64_t seed = b.after + 1; seed <= b.after + enough_seeds && !all.seed; ++seed) {
    const std::string found = run(seed, b.where).violation;
    if (names(found, b.breaks)) {
      all.seed = seed;
      all.violation = found;
    } else if (!found.empty()) {
      ++all.others[found.substr(0, found.find(':'))];
    }
  }
  return all;
}

using recorded_seeds = std::map<std::string, std::uint64_t, std::less<>>;

/// Reads seeds.txt: a line `name seed` for each seeded bug; lines that begin with # are comments.
[[nodiscard]] inline recorded_seeds read_recorded_seeds() {
  recorded_seeds all;
  std::ifstream file(HOLDFAST_RECORDED_SEEDS);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (!line.starts_with("#") && space != std::string::npos)
      all[line.substr(0, space)] = std::stoull(line.substr(space));
  }
  return all;
}

}  // namespace holdfast::sim
