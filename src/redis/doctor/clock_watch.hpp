#pragma once
#include <chrono>
#include <vector>

#include "runtime/clock.hpp"
#include "storage/findings.hpp"

namespace holdfast::redis {

/// What the server's clock showed, some times, against ours. A sample is as exact as its round trip was short; what is
/// said of the clocks is true whatever happened in between.
class clock_watch {
 public:
  using microseconds = std::chrono::microseconds;
  struct sample {
    runtime::instant sent;      ///< before the server read its clock
    runtime::instant received;  ///< after it
    microseconds wall;          ///< since 1970, on our clock on the wall, at `sent`
    microseconds server;        ///< since 1970, on the server's
  };
  void add(const sample& s) { all_.push_back(s); }

  /// How far the clocks on the wall are apart, half of the round trip considered, and whether the server's runs as fast
  /// as ours: a clock that is set meanwhile does not.
  void judge(storage::findings&) const;

 private:
  void judge_offset(storage::findings&) const;
  void judge_rate(storage::findings&) const;
  std::vector<sample> all_;
};

}  // namespace holdfast::redis
