#pragma once
#include <string>

#include "bench/measurement.hpp"
#include "text/style.hpp"

namespace holdfast::cli {

/// For people: a table, and a picture of each part.
[[nodiscard]] std::string as_text(const bench_report&, const style&);
/// For programs: one JSON object. docs/cli.md says what is in it.
[[nodiscard]] std::string as_json(const bench_report&);

/// "31.2 us", "1.05 ms": three digits and a unit.
[[nodiscard]] std::string short_time(std::chrono::nanoseconds);

}  // namespace holdfast::cli
