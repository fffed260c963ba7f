#include "bench/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <optional>

#include "bench/parts.hpp"
#include "bench/relay.hpp"
#include "bench/report.hpp"
#include "exit_code.hpp"
#include "process/signals.hpp"
#include "text/style.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// No other run's, on a store that is shared.
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
    store_.emplace(o.store.open());  // it has threads, so the players of the relay are there already
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
      tell();  // what was seen before it failed
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
    // Where the kernel keeps a lock, there is nothing to renew.
    return part != "renew" || store_->promises().by == guarantees::exclusion::lease;
  }

  void measure() {
    thread_parts in_threads(*store_, prefix_, watch_);
    (void)store_->inspect(prefix_);  // a store that does not answer says so before anything else
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

  /// Held for long enough that the other has asked for the lock, and stands in the queue.
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

}  // namespace

int bench(const bench_options& o) { return benchmark(o).go(); }

}  // namespace holdfast::cli
