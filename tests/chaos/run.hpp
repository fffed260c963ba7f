#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::chaos {

struct plan {
  std::string topology;
  std::uint64_t seed = 1;
  std::chrono::seconds time{10};  ///< of faults, without the checks after them
  std::string file;               ///< of the history; a temporary file if empty
  std::chrono::milliseconds slack{5'000};
};

/// Returns true if no condition was broken and the naive lock was found to fail. Prints figures to stdout. Removes the
/// history of a run that passed, unless its file was named.
[[nodiscard]] bool run(const plan&);

/// Checks a history from a file.
[[nodiscard]] bool check(const std::string& file, std::chrono::milliseconds slack);

}  // namespace holdfast::chaos
