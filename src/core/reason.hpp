#pragma once
#include <optional>
#include <utility>

#include "storage/answer.hpp"

namespace holdfast::core {

/// Why a store does not serve a caller who asks it again and again. A try that the caller's own limit has cut short
/// says less than the one before: then that one's reason stands.
class reason {
 public:
  /// What stands after one more try that failed.
  [[nodiscard]] const storage::failure& after(storage::failure failed, bool cut_short) {
    if (!last_ || !cut_short || failed.permanent()) last_ = std::move(failed);
    return *last_;
  }
  /// The same, in place of an answer that is not known.
  template <class T>
  void settle(storage::answer<T>& unknown, bool cut_short) {
    unknown = storage::answer<T>::unknown(after(std::move(unknown.why()), cut_short));
  }
  /// The store has answered: a silence is over. What it said itself may still be why it does not grant.
  void heard() {
    if (last_ && last_->code == errc::unreachable) last_.reset();
  }
  void forget() { last_.reset(); }

 private:
  std::optional<storage::failure> last_;
};

}  // namespace holdfast::core
