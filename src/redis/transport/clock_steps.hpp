#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Notices that the server's clock was set, from the times that its answers carry anyway. From any thread.
class clock_steps {
 public:
  struct sample {
    runtime::instant sent;             ///< before the server read its clock
    runtime::instant received;         ///< after it
    std::chrono::microseconds server;  ///< what that showed, since 1970
  };
  /// What is to be told, if it was set since the last sample.
  [[nodiscard]] std::optional<std::string> add(const sample&);

 private:
  runtime::guarded<std::optional<sample>> last_;
};

}  // namespace holdfast::redis
