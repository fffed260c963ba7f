#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>

#include "bench/bench.hpp"
#include "bench/parts.hpp"
#include "help/help.hpp"
#include "options/values.hpp"
#include "text/duration.hpp"

namespace holdfast::cli {

namespace {

std::string long_enough(const std::string& text) {
  using namespace std::chrono_literals;
  const auto time = parse_duration(text);
  return time && (*time < 10ms || *time > 1h) ? "each part is measured for 10ms to 1h" : "";
}

}  // namespace

action describe_bench(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<bench_options>();
  bench_options& o = *wanted;
  CLI::App& command = *program.add_subcommand("bench", "What locks cost on your store, beside its bare round trip");
  command.group("care");
  examples(command, {{"holdfast bench", "all, on the store that is in force"},
                     {"holdfast bench --store redis://127.0.0.1 lock", "one part, on this server"}});
  command.footer("Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration; 130 by Ctrl-C.");
  const std::vector<std::string> parts(std::begin(bench_parts), std::end(bench_parts));
  command.add_option("WHAT", o.parts, "lock, threads, contention, hand-off, renew [all]")->check(CLI::IsMember(parts));
  o.store.add_to(command);
  add_duration(command, "--time", o.time, "measure each part for so long, after a tenth of it to warm up [2s]")
      ->check(long_enough);
  command.add_option("--threads", o.threads, "how many threads, where several take part [8]")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  command.add_flag("--json", o.json, "one JSON object, for programs");
  return [wanted] { return bench(*wanted); };
}

}  // namespace holdfast::cli
