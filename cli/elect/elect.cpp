#include "elect/elect.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "exit_code.hpp"
#include "process/timeout.hpp"
#include "run/stopping.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using duration = boot_clock::duration;

constexpr duration shortest_pause = 1s, longest_pause = 30s;

/// The command has not run, but it may go better the next time.
bool may_pass(const run_end& how) {
  return how.cause == "no time" || how.cause == "lost" || (how.cause == "error" && how.of_worker.code == unreachable);
}

class campaigner {
 public:
  campaigner(const elect_options& o, const run_place& where) : options_(o), where_(where), signals_(where.signals) {}

  worker_end go() {
    for (;;) {
      const run_end how = run_once(options_.run, where_);
      const bool ends_us = how.of_worker.died_of != 0 || how.asked_to_stop;
      if (ends_us || (!how.ran && !may_pass(how))) return how.of_worker;
      if (how.ran) ++terms_;
      if (options_.max_terms != 0 && terms_ >= options_.max_terms) return how.of_worker;
      pause(how);
      if (const int by = signals_.asked_to_stop(); by != 0) return {.code = by_signal + by};
    }
  }

 private:
  /// A command that fails at once shall not be started without end; nor shall a store that is gone be asked so.
  void pause(const run_end& how) {
    const bool failed = how.cause == "error" || (how.cause == "command" && how.of_worker.code != fine);
    const duration now = failed && how.held_for < longest_pause ? next_ : shortest_pause;
    next_ = failed ? std::min(now * 2, longest_pause) : shortest_pause;
    if (options_.run.hold.verbose) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
      say_in_words("campaigning again in " + std::to_string(seconds) + "s");
    }
    const boot_clock::time_point until = boot_clock::now() + now;
    while (boot_clock::now() < until && signals_.asked_to_stop() == 0) {
      pollfd one{signals_.fd(), POLLIN, 0};
      ::poll(&one, 1, poll_timeout(until));
    }
  }

  const elect_options& options_;
  const run_place& where_;  // one for all terms: no signal between two of them is missed
  caught_signals& signals_;
  unsigned terms_ = 0;
  duration next_ = shortest_pause;
};

}  // namespace

int elect(const elect_options& o) {
  if (const std::string wrong = contradiction(o.run); !wrong.empty()) {
    std::fprintf(stderr, "holdfast: %s; see holdfast elect --help\n", wrong.c_str());
    return usage;
  }
  return in_a_worker(o.run, [&o](const run_place& where) { return campaigner(o, where).go(); });
}

}  // namespace holdfast::cli
