#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

#include "support/bounds.hpp"

namespace holdfast::test {

/// Polls until a condition is true. Returns false if it hangs.
///
/// It pauses between polls, at first for some microseconds: a busy loop would take the processor from the servers that
/// it waits for.
template <class F>
[[nodiscard]] bool eventually(F condition) {
  const auto end = std::chrono::steady_clock::now() + hang;
  std::chrono::microseconds pause{20};
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(10'000));
  }
  return true;
}

}  // namespace holdfast::test
