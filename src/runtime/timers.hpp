#pragma once
#include <cstdint>

#include "runtime/io.hpp"

namespace holdfast::runtime {

/// The timed waits of one io, earliest first, equal ones in the order in which they were armed. An intrusive pairing
/// heap, so that a wait cannot fail for lack of memory.
class timers {
 public:
  void arm(parked&, instant) noexcept;
  void disarm(parked&) noexcept;
  [[nodiscard]] instant first() const noexcept { return first_ == nullptr ? never : first_->due_; }
  /// Ends the first wait that is due and returns its frame, or a null handle if none is due.
  [[nodiscard]] std::coroutine_handle<> pop_due(instant now) noexcept;

 private:
  static parked* merge(parked*, parked*) noexcept;
  static parked* merge_siblings(parked* first) noexcept;
  parked* first_ = nullptr;
  std::uint64_t last_number_ = 0;
};

}  // namespace holdfast::runtime
