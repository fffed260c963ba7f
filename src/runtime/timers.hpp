#pragma once
#include <cstdint>

#include "runtime/io.hpp"

namespace holdfast::runtime {

/// The timed waits of one home thread, earliest first; of equal ones, the first armed. A pairing heap whose links are
/// in the waits themselves: a wait that began cannot fail for lack of memory.
class timers {
 public:
  void arm(parked&, instant) noexcept;
  void disarm(parked&) noexcept;
  [[nodiscard]] instant first() const noexcept { return first_ == nullptr ? never : first_->due_; }
  /// Ends the first wait if it is due: the frame to resume, or none if nothing is due any more.
  [[nodiscard]] std::coroutine_handle<> pop_due(instant now) noexcept;

 private:
  static parked* merge(parked*, parked*) noexcept;
  static parked* merge_siblings(parked* first) noexcept;
  parked* first_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace holdfast::runtime
