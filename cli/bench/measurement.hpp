#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "bench/histogram.hpp"

namespace holdfast::cli {

/// What was seen of one part.
struct measurement {
  std::string part{};  ///< its name
  std::string what{};  ///< what was timed, in words
  histogram times{};
  std::chrono::duration<double> counted{0};  ///< how long it was measured, without the warm-up

  [[nodiscard]] double per_second() const noexcept {
    return counted.count() > 0 ? static_cast<double>(times.count()) / counted.count() : 0;
  }
};

/// All that a run has seen.
struct bench_report {
  std::string store{};  ///< without its password
  std::chrono::milliseconds time{0};
  unsigned threads = 0;
  std::optional<measurement> raw{};  ///< the cheapest round trip: see raw.hpp
  std::vector<measurement> parts{};
  bool interrupted = false;
};

}  // namespace holdfast::cli
