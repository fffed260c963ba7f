#pragma once
#include <optional>
#include <utility>

#include "storage/answer.hpp"

namespace holdfast::core {

/// The error to report when a repeated request fails for good. A try that the caller's own limit cuts short says less
/// than the one before it, so it does not replace that error.
class last_error {
 public:
  /// Returns what to report after one more failed try.
  [[nodiscard]] const storage::failure& after(storage::failure failed, bool cut_short) {
    if (!last_ || !cut_short || failed.permanent()) last_ = std::move(failed);
    return *last_;
  }
  /// Same as above, in place of an unknown answer.
  template <class T>
  void settle(storage::answer<T>& unknown, bool cut_short) {
    unknown = storage::answer<T>::unknown(after(std::move(unknown.why()), cut_short));
  }
  /// The store has answered, so it is no longer unreachable. An error that it reported itself may still apply.
  void answered() {
    if (last_ && last_->code == errc::unreachable) last_.reset();
  }
  void reset() { last_.reset(); }

 private:
  std::optional<storage::failure> last_;
};

}  // namespace holdfast::core
