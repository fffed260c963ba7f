#pragma once
#include <chrono>
#include <string>

#include "bench/counting.hpp"
#include "process/flag.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// Opens and closes the window of each measurement: a warm-up, then the time. Shows a bar meanwhile. A signal ends it
/// early.
class stopwatch {
 public:
  /// The signals must outlive it. `live`: a bar may be shown.
  stopwatch(std::chrono::milliseconds time, caught_signals& signals, bool live)
      : time_(time), signals_(signals), live_(live) {}
  /// Ends early, too, when `failed` is set. Returns how long the window counted.
  std::chrono::duration<double> run(const std::string& part, counting&, const flag& failed);
  /// The signal that ended us; 0: none has.
  [[nodiscard]] int stopped_by() noexcept { return signals_.asked_to_stop(); }

 private:
  const std::chrono::milliseconds time_;
  caught_signals& signals_;
  const bool live_;
};

}  // namespace holdfast::cli
