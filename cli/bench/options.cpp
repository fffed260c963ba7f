#include <iterator>
#include <memory>

#include "bench/bench.hpp"
#include "bench/parts.hpp"
#include "text/duration.hpp"

namespace holdfast::cli {

namespace {

std::string long_enough(const std::string& text) {
  using namespace std::chrono_literals;
  const auto time = parse_duration(text);
  return time && (*time < 10ms || *time > 1h) ? "each part is measured for 10ms to 1h" : "";
}

}  // namespace

command_spec describe_bench(const user_command&) {
  const auto wanted = std::make_shared<bench_options>();
  bench_options& o = *wanted;
  return {.name = "bench",
          .group = "care",
          .description = "What locks cost on your store, beside its bare round trip",
          .examples = {{"holdfast bench", "all, on the store that is in force"},
                       {"holdfast bench --store redis://127.0.0.1 lock", "one part, on this server"}},
          .options = {{.names = "WHAT",
                       .help = "lock, threads, contention, hand-off, renew [all]",
                       .into = &o.parts,
                       .one_of = {std::begin(bench_parts), std::end(bench_parts)}},
                      o.store.row(),
                      {.names = "--time",
                       .value = "D",
                       .help = "measure each part for so long, after a tenth of it to warm up [2s]",
                       .into = &o.time,
                       .check = long_enough},
                      {.names = "--threads",
                       .value = "N",
                       .help = "how many threads, where several take part [8]",
                       .into = &o.threads,
                       .range = {{1, 1000}}},
                      {.names = "--json", .help = "one JSON object, for programs", .into = &o.json}},
          .footer = "Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration; 130 by Ctrl-C.",
          .act = [wanted] { return bench(*wanted); }};
}

}  // namespace holdfast::cli
