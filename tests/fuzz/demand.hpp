#pragma once
#include <cstdlib>

namespace holdfast::test {

/// What does not hold is a crash, which libFuzzer keeps and tells.
inline void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace holdfast::test
