#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

#include "support/bounds.hpp"

namespace holdfast::test {

/// Waits for something that tells nobody when it happens. False: it hangs.
///
/// It pauses between looks, at first for some microseconds: a loop that never does takes the processor from the servers
/// that it waits for.
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
