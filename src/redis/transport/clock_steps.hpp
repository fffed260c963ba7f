#pragma once
#include <optional>
#include <string>

#include "redis/protocol/clock_reading.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Detects that the server's clock was stepped, from the times that its replies carry anyway. Thread-safe.
class clock_steps {
 public:
  /// Returns a warning if the clock was stepped since the last reading.
  [[nodiscard]] std::optional<std::string> add(const clock_reading&);

 private:
  runtime::guarded<std::optional<clock_reading>> last_;
};

}  // namespace holdfast::redis
