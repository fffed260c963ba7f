#pragma once
#include <chrono>

#include "runtime/clock.hpp"

namespace holdfast::redis {

/// A reading of the server's clock. The server took it at some moment between `sent` and `received`.
struct clock_reading {
  runtime::instant sent;
  runtime::instant received;
  std::chrono::microseconds server;  ///< since 1970
};

/// The time that passed between two readings.
struct clock_advance {
  runtime::span least, most;  ///< bounds by our clock; `least` is negative if the requests overlapped
  runtime::span server;       ///< by the server's clock

  clock_advance(const clock_reading& from, const clock_reading& to)
      : least(to.sent - from.received), most(to.received - from.sent), server(to.server - from.server) {}
};

}  // namespace holdfast::redis
