#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Detects that the server's clock was set, by the times that its answers contain anyway. From any thread.
class clock_steps {
 public:
  struct sample {
    runtime::instant sent;             ///< before the server read its clock
    runtime::instant received;         ///< after it
    std::chrono::microseconds server;  ///< what its clock showed, since 1970
  };
  /// Returns a warning if the clock was set since the last sample.
  [[nodiscard]] std::optional<std::string> add(const sample&);

 private:
  runtime::guarded<std::optional<sample>> last_;
};

}  // namespace holdfast::redis
