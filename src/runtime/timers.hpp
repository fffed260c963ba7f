#pragma once
#include <map>

#include "runtime/io.hpp"

namespace holdfast::runtime {

/// The timed waits of one home thread, earliest first; of equal ones, the first armed.
class timers {
 public:
  void arm(parked&, instant);
  void disarm(parked&) noexcept;
  [[nodiscard]] instant first() const noexcept { return waits_.empty() ? never : waits_.begin()->first; }
  /// Ends the first wait if it is due: the frame to resume, or none if nothing is due any more.
  [[nodiscard]] std::coroutine_handle<> pop_due(instant now) noexcept;

 private:
  std::multimap<instant, parked*> waits_;
};

}  // namespace holdfast::runtime
