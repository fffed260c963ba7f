#pragma once
#include <unistd.h>

#include <algorithm>

namespace holdfast::cli {

/// Between two looks for the end of processes that were killed: almost at once, as a rule; but one of another user's
/// cannot be killed, and may take its time.
class spin {
 public:
  void pause() noexcept {
    ::usleep(microseconds_);
    microseconds_ = std::min(microseconds_ * 2, longest);
  }

 private:
  static constexpr useconds_t longest = 100'000;
  useconds_t microseconds_ = 1'000;
};

}  // namespace holdfast::cli
