#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "bench/histogram.hpp"
#include "command.hpp"
#include "options/values.hpp"
#include "text/table.hpp"

namespace holdfast::cli {

/// `holdfast bench [WHAT...]`: what locks cost on the user's own store.
struct bench_options {
  store_option store{};
  std::chrono::milliseconds time{2'000};  ///< each part is measured for so long
  unsigned threads = 8;                   ///< where several take part
  bool json = false;
  std::vector<std::string> parts{};  ///< see parts.hpp; none: all that make sense on the store
};

/// See command.hpp.
[[nodiscard]] command_spec describe_bench(const user_command&);
/// To the end. Returns the exit code: 0, or 128 and the signal that stopped it. Throws lock_error.
[[nodiscard]] int bench(const bench_options&);

/// For people: a table, and a picture of each part.
[[nodiscard]] std::string as_text(const bench_report&, const style&);
/// For programs: one JSON object. docs/cli.md says what is in it.
[[nodiscard]] std::string as_json(const bench_report&);

/// "31.2 us", "1.05 ms": three digits and a unit.
[[nodiscard]] std::string short_time(std::chrono::nanoseconds);

}  // namespace holdfast::cli
