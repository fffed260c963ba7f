#pragma once
#include <cstdlib>

namespace holdfast::test {

/// Crashes if the condition is false; libFuzzer reports and keeps the input.
inline void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace holdfast::test
