#pragma once
#include <atomic>

namespace holdfast::cli {

/// When what is measured counts. Shared by threads or, in shared memory, by processes.
struct counting {
  std::atomic<bool> counts{false};  ///< the warm-up is over: what begins now is counted
  std::atomic<bool> over{false};    ///< no new turn is begun
};

}  // namespace holdfast::cli
