#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::chaos {

struct plan {
  std::string topology;
  std::uint64_t seed = 1;
  std::chrono::seconds time{10};  ///< of faults; what comes after them is not counted
  std::string file;               ///< of the history; empty: one in the folder for temporary files
  std::chrono::milliseconds slack{5'000};
};

/// True: no condition was broken, and the naive lock was found out. Says on stdout what was seen. Removes the history
/// of a run that is fine, unless its file was named.
[[nodiscard]] bool run(const plan&);

/// Checks a history that was kept.
[[nodiscard]] bool check(const std::string& file, std::chrono::milliseconds slack);

}  // namespace holdfast::chaos
