#pragma once
#include <holdfast/store.hpp>
#include <string>

#include "bench/measurement.hpp"
#include "bench/stopwatch.hpp"

namespace holdfast::cli {

/// What is measured, by its name on the command line, in this order. The hand-off is by relay.hpp.
inline constexpr const char* bench_parts[] = {"lock", "threads", "contention", "hand-off", "renew"};

/// Takes and gives back locks whose names begin with the prefix. They throw lock_error.
class thread_parts {
 public:
  /// All must outlive it.
  thread_parts(store& s, const std::string& prefix, stopwatch& watch) : store_(s), prefix_(prefix), watch_(watch) {}
  [[nodiscard]] measurement raw();  ///< empty when the raw connection is cut
  [[nodiscard]] measurement lock();
  [[nodiscard]] measurement threads(unsigned);
  [[nodiscard]] measurement contention(unsigned);
  [[nodiscard]] measurement renew();

 private:
  store& store_;
  const std::string& prefix_;
  stopwatch& watch_;
};

}  // namespace holdfast::cli
