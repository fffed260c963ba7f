#include "process/timeout.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::cli {

int poll_timeout(boot_clock::time_point until) noexcept {
  if (until == boot_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
}

}  // namespace holdfast::cli
