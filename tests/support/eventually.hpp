#pragma once
#include <chrono>
#include <thread>

#include "support/bounds.hpp"

namespace holdfast::test {

/// Waits for something that tells nobody when it happens. False: it hangs.
template <class F>
[[nodiscard]] bool eventually(F condition) {
  const auto end = std::chrono::steady_clock::now() + hang;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace holdfast::test
