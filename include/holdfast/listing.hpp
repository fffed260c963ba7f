#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "holdfast/state.hpp"

namespace holdfast {

/// One page of the names that are held or waited for. A page may be empty though more follow.
struct listing {
  struct entry {
    std::string name;
    state now;  ///< as inspect() gives it, but with most_holders at most, and no waiters; the counts are right
  };
  std::vector<entry> names;
  std::string next;  ///< for the following call, which alone can read it; empty: this was the last page

  static constexpr std::size_t most_holders = 4;
};

}  // namespace holdfast
