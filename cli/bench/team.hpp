#pragma once
#include <functional>
#include <stop_token>

#include "bench/measurement.hpp"
#include "bench/stopwatch.hpp"

namespace holdfast::cli {

/// One turn of what is timed. False: it was cut short by the stop_token, and does not count.
using turn = std::function<bool(std::stop_token)>;

/// So many threads, each with a turn of its own that it repeats until the stopwatch ends it. Throws what a turn throws.
void measure_in_threads(unsigned threads, const std::function<turn(unsigned me)>& turn_of, stopwatch&, measurement&);

}  // namespace holdfast::cli
