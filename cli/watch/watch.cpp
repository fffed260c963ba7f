#include "watch/watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "exit_code.hpp"
#include "list/list.hpp"
#include "options/values.hpp"
#include "process/io.hpp"
#include "text/state.hpp"
#include "watch/changes.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr auto shortest_interval = 10ms;
/// Up to this many names that have disappeared are inspected to see why. If more disappear at once, the rest is
/// reported as released.
constexpr std::size_t most_searched = 100;

struct watch_options {
  store_option store{};
  name_argument prefix{};
  milliseconds interval{1'000};
  std::optional<milliseconds> how_long{};
  bool json = false;
};

class change_printer {
 public:
  explicit change_printer(const watch_options& o) : options_(o), store_(o.store.open()) {}

  int go() {
    const auto end = options_.how_long ? boot_clock::now() + *options_.how_long : boot_clock::time_point::max();
    round();  // errors of the first round end the command; later ones are retried
    while (read_ && boot_clock::now() < end) {
      const auto left = std::chrono::ceil<milliseconds>(end - boot_clock::now());
      read_ = out_.pause(std::min(options_.interval, left));
      if (read_) try_round();
    }
    return fine;
  }

 private:
  void round() {
    seen_.begin_round();
    for_each_page(store_, options_.prefix.text(), [&](const std::vector<listing::entry>& page) {
      for (const listing::entry& each : page) tell(seen_.see(each, boot_clock::now()));
      return flush();
    });
    std::size_t searched = 0;
    for (const std::string& name : seen_.missing()) {
      if (!read_) return;
      const bool look = searched++ < most_searched;
      tell(seen_.see({name, look ? store_.inspect(name) : state()}, boot_clock::now()));
    }
    flush();
  }

  void try_round() {
    try {
      round();
      if (std::exchange(silent_, false)) tell_of_store("reachable", "the store answers again");
    } catch (const lock_error& e) {
      if (e.code() != errc::unreachable && e.code() != errc::not_ready) throw;
      if (!std::exchange(silent_, true)) tell_of_store("unreachable", e.what());
    }
  }

  void tell(const std::vector<change>& found) {
    const auto now = system_clock::now();
    for (const change& each : found) {
      text_ += options_.json ? to_line(to_json(each, now)) : to_text(each, now, out_.columns()) + "\n";
    }
  }

  /// Printed on stderr, since it is not a change of a lock.
  void tell_of_store(std::string_view event, const std::string& why) {
    if (!options_.json) {
      std::fprintf(stderr, "holdfast: %s\n", why.c_str());
      return;
    }
    json_value all;
    all["event"] = event;
    all["time"] = seconds_of(system_clock::now());
    all["why"] = why;
    text_ += to_line(all);
    flush();
  }

  bool flush() { return read_ = read_ && out_.write(std::exchange(text_, {})); }

  const watch_options& options_;
  const output out_;
  const store store_;
  changes seen_;
  std::string text_;
  bool read_ = true;
  bool silent_ = false;  // the store does not answer
};

}  // namespace

command_spec describe_watch(const user_command&) {
  const auto wanted = std::make_shared<watch_options>();
  return {
      .name = "watch",
      .group = "look",
      .description = "Print changes: acquired, released, handed over, waiting",
      .examples = {{"holdfast watch", "every change, as it is seen"},
                   {"holdfast watch jobs/ --interval 200ms", "more often"}},
      .options = joined({wanted->prefix.prefix_rows(),
                         {wanted->store.row(),
                          {.names = "--interval",
                           .value = "D",
                           .help = "time between two looks; shorter holds are missed [1s]",
                           .into = &wanted->interval},
                          {.names = "--for",
                           .value = "D",
                           .help = "end after this time [when the reader is gone]",
                           .into = &wanted->how_long},
                          {.names = "--json", .help = "one JSON object per line", .into = &wanted->json}}}),
      .footer = "Exit codes: 0; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration; 128+n by signal n.",
      .act = [wanted] {
        wanted->interval = std::max<milliseconds>(wanted->interval, shortest_interval);
        return change_printer(*wanted).go();
      }};
}

}  // namespace holdfast::cli
