#include "bench/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/histogram.hpp"
#include "bench/parts.hpp"
#include "exit_code.hpp"
#include "options/values.hpp"
#include "process/signals.hpp"
#include "text/json.hpp"
#include "text/table.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

struct bench_options {
  store_option store{};
  std::chrono::milliseconds time{2'000};  ///< per part
  unsigned threads = 8;                   ///< in the parts with several threads
  bool json = false;
  std::vector<std::string> parts{};  ///< see parts.hpp; empty: all that apply to the store
};

/// "31.2 us", "1.05 ms": three digits and a unit.
std::string short_time(std::chrono::nanoseconds);

std::string line(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string line(const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

std::string row_of(const measurement& m, const measurement* raw) {
  const auto half = m.times.at_share(0.5);
  std::string text = line("%-11s %10.0f %10s %10s %10s", m.part.c_str(), m.per_second(), short_time(half).c_str(),
                          short_time(m.times.at_share(0.99)).c_str(), short_time(m.times.max()).c_str());
  const bool comparable = raw != nullptr && raw->times.at_share(0.5).count() > 0;
  text += comparable ? line(" %9.2fx",
                            static_cast<double>(half.count()) / static_cast<double>(raw->times.at_share(0.5).count()))
                     : std::string(11, ' ');
  return text + "   " + m.what + "\n";
}

/// Each row covers twice the time of the row before.
std::string picture_of(const measurement& m) {
  constexpr std::uint64_t width = 40;
  std::uint64_t most = 1;
  for (const histogram::row& r : m.times.rows()) most = std::max(most, r.count);
  std::string text;
  for (const histogram::row& r : m.times.rows()) {
    const std::uint64_t full = r.count == 0 ? 0 : std::max<std::uint64_t>(1, r.count * width / most);
    const double share = 100 * static_cast<double>(r.count) / static_cast<double>(m.times.count());
    text +=
        line("  up to %8s |%-40s| %6.2f %%  %llu\n", short_time(r.up_to).c_str(),
             std::string(static_cast<std::size_t>(full), '#').c_str(), share, static_cast<unsigned long long>(r.count));
  }
  return text;
}

std::string short_time(std::chrono::nanoseconds t) {
  const auto ns = static_cast<double>(t.count());
  const auto with = [](double value, const char* unit) {
    return line("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
  };
  if (ns < 999.5) return line("%.0f ns", ns);
  if (ns < 999.5e3) return with(ns / 1e3, "us");
  if (ns < 999.5e6) return with(ns / 1e6, "ms");
  return with(ns / 1e9, "s");
}

std::string as_text(const bench_report& all, const style& in) {
  std::string text;
  if (all.interrupted) text += "Stopped: these are the results so far.\n";
  text += in.bold(line("%-11s %10s %10s %10s %10s %10s", "", "a second", "p50", "p99", "max", "p50 / raw")) + "\n";
  if (all.raw) text += row_of(*all.raw, nullptr);
  for (const measurement& m : all.parts) text += row_of(m, all.raw ? &*all.raw : nullptr);
  for (const measurement& m : all.parts) {
    text.append("\n").append(in.bold(m.part + ": " + m.what)).append("\n").append(picture_of(m));
  }
  return text;
}

double microseconds(std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e3; }

json_value object_of(const measurement& m) {
  json_value it(json_value::object{{"part", m.part},
                                   {"what", m.what},
                                   {"operations", m.times.count()},
                                   {"seconds", m.counted.count()},
                                   {"per_second", m.per_second()},
                                   {"min_us", microseconds(m.times.min())},
                                   {"p50_us", microseconds(m.times.at_share(0.5))},
                                   {"p99_us", microseconds(m.times.at_share(0.99))},
                                   {"max_us", microseconds(m.times.max())},
                                   {"histogram", json_value::array()}});
  for (const histogram::row& r : m.times.rows()) {
    it["histogram"].push_back(json_value::object{{"up_to_us", microseconds(r.up_to)}, {"count", r.count}});
  }
  return it;
}

std::string as_json(const bench_report& all) {
  json_value it(json_value::object{{"store", all.store},
                                   {"time", std::chrono::duration<double>(all.time).count()},
                                   {"threads", all.threads},
                                   {"interrupted", all.interrupted},
                                   {"raw", all.raw ? object_of(*all.raw) : json_value()},
                                   {"parts", json_value::array()}});
  for (const measurement& m : all.parts) it["parts"].push_back(object_of(m));
  return it.dump(json_value::charset::utf8, 2) + "\n";
}

using namespace std::chrono_literals;

/// A prefix that no other run uses.
std::string own_prefix() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return "holdfast-bench/" + std::string(host) + "-" + std::to_string(::getpid()) + "/";
}

class benchmark {
 public:
  explicit benchmark(const bench_options& o)
      : options_(o),
        live_(style_.live() && !o.json),
        watch_(o.time, signals_, live_),
        report_{.time = o.time, .threads = o.threads} {
    if (o.parts.empty() || is_named("hand-off")) relay_.emplace(o.store.url(), prefix_ + "hand-off");
    store_.emplace(o.store.open());  // starts threads, so the relay has forked before
    report_.store = store_->url();
  }

  int go() {
    if (!options_.json) {
      std::printf("On %s, each part for %s; see holdfast bench --help\n\n", report_.store.c_str(),
                  short_time(options_.time).c_str());
      std::fflush(stdout);
    }
    try {
      measure();
    } catch (const lock_error&) {
      tell();  // partial results
      throw;
    }
    report_.interrupted = watch_.stopped_by() != 0;
    tell();
    return report_.interrupted ? by_signal + watch_.stopped_by() : fine;
  }

 private:
  [[nodiscard]] bool is_named(const char* part) const {
    return std::find(options_.parts.begin(), options_.parts.end(), part) != options_.parts.end();
  }
  [[nodiscard]] bool wanted(const std::string& part) const {
    if (!options_.parts.empty()) return is_named(part.c_str());
    // With exclusion by the kernel there is nothing to renew.
    return part != "renew" || store_->promises().by == guarantees::exclusion::lease;
  }

  void measure() {
    thread_parts in_threads(*store_, prefix_, watch_);
    (void)store_->inspect(prefix_);  // fail first if the store does not answer
    stopwatch short_watch(std::min<std::chrono::milliseconds>(options_.time, 500ms), signals_, live_);
    const measurement raw = thread_parts(*store_, prefix_, short_watch).raw();
    if (raw.times.count() > 0) report_.raw = raw;
    for (const char* const each : bench_parts) {
      const std::string part = each;
      if (watch_.stopped_by() != 0 || !wanted(part)) continue;
      if (part == "lock") keep(in_threads.lock());
      if (part == "threads") keep(in_threads.threads(options_.threads));
      if (part == "contention") keep(in_threads.contention(options_.threads));
      if (part == "hand-off") keep(hand_off());
      if (part == "renew") keep(in_threads.renew());
    }
  }

  void keep(const measurement& m) {
    if (m.times.count() > 0) report_.parts.push_back(m);
  }

  /// Holds the lock long enough for the other process to queue.
  measurement hand_off() {
    const std::chrono::nanoseconds round_trip = report_.raw ? report_.raw->times.at_share(0.5) : 0ns;
    const std::chrono::nanoseconds held = std::max<std::chrono::nanoseconds>(500us, 4 * round_trip);
    measurement m{.part = "hand-off",
                  .what = "from the unlock in one process to the lock in another, held for " + short_time(held)};
    relay_->measure(held, watch_, m);
    return m;
  }

  void tell() const {
    const std::string text = options_.json ? as_json(report_) : as_text(report_, style_);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  const bench_options& options_;
  const style style_{stdout};
  const std::string prefix_ = own_prefix();
  caught_signals signals_;
  const bool live_;
  stopwatch watch_;
  bench_report report_;
  std::optional<relay> relay_;
  std::optional<store> store_;
};

/// Returns the exit code: 0, or 128 plus the signal. Throws lock_error.
int bench(const bench_options& o) { return benchmark(o).go(); }

std::string check_time(const std::string& text) {
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
          .description = "Measure what locks cost on your store",
          .examples = {{"holdfast bench", "all parts, on the current store"},
                       {"holdfast bench --store redis://127.0.0.1 lock", "one part, on this server"}},
          .options = {{.names = "WHAT",
                       .help = "lock, threads, contention, hand-off, renew [all]",
                       .into = &o.parts,
                       .one_of = {std::begin(bench_parts), std::end(bench_parts)}},
                      o.store.row(),
                      {.names = "--time",
                       .value = "D",
                       .help = "measure each part for this long, after a tenth of it to warm up [2s]",
                       .into = &o.time,
                       .check = check_time},
                      {.names = "--threads",
                       .value = "N",
                       .help = "the number of threads in threads and contention [8]",
                       .into = &o.threads,
                       .range = {{1, 1000}}},
                      {.names = "--json", .help = "one JSON object, for programs", .into = &o.json}},
          .footer = "Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration; 130 by Ctrl-C.",
          .act = [wanted] { return bench(*wanted); }};
}

}  // namespace holdfast::cli
