#include "elect/elect.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <holdfast/election.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "exit_code.hpp"
#include "hold/status.hpp"
#include "process/io.hpp"
#include "run/monitor.hpp"
#include "run/run.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

struct elect_options {
  run_options run{};
  unsigned max_terms = 0;  ///< 0: no limit
  bool observe = false;    ///< print the leader instead of running a command
};

using namespace std::chrono_literals;

/// Watches an election.
class watcher {
 public:
  watcher(const elect_options& o, outbox& to)
      : options_(o.run.hold),
        to_(to),
        store_(options_.store.open({}, options_.quiet)),
        at_(store_, options_.names.front()) {}

  /// Runs until the stop is requested. Throws lock_error.
  void watch(std::stop_token stop) {
    for (auto pause = 1s; !stop.stop_requested(); pause = std::min(pause * 2, std::chrono::seconds(30))) {
      try {
        leaders seen = at_.observe();
        pause = 1s;
        do tell(seen.current());
        while (seen.wait_for_change(until(stop)));
      } catch (const lock_error& e) {
        if (code_of(e) != unreachable) throw;
        if (!options_.quiet) print_message(std::string(e.what()) + "; trying again");
        std::unique_lock lock(mutex_);
        (void)asked_.wait_for(lock, stop, pause, [] { return false; });
      }
    }
  }
  /// Cancels a request that is not answered.
  void hang_up() noexcept { store_.close(); }

 private:
  void tell(const std::optional<leader>& now) {
    if (told_ && *told_ == now) return;
    told_ = now;
    const std::string& name = options_.names.front();
    if (options_.status_fd < 0) {
      to_.put(now ? std::to_string(now->fence) + " " + printable(now->label) + "\n" : "nobody\n");
    } else if (now) {
      to_.put(status::line("leader", {{"name", name}, {"fence", now->fence}, {"label", now->label}}));
    } else {
      to_.put(status::line("nobody", {{"name", name}}));
    }
  }

  const hold_options& options_;
  outbox& to_;
  store store_;
  election at_;
  std::optional<std::optional<leader>> told_;
  std::mutex mutex_;
  std::condition_variable_any asked_;
};

/// Prints the leader at each change, until a signal arrives. Returns the exit code. Throws lock_error.
int observe(const elect_options& o) {
  caught_signals signals;
  outbox out(o.run.hold.status_fd >= 0 ? o.run.hold.status_fd : STDOUT_FILENO);
  watcher one(o, out);
  const flag over;
  std::exception_ptr why;
  std::jthread watching([&](std::stop_token stop) {
    try {
      one.watch(std::move(stop));
    } catch (const std::exception&) {
      why = std::current_exception();
    }
    over.set();
  });
  bool reads = true, ended = false;
  while (reads && signals.asked_to_stop() == 0 && !(ended && out.empty())) {
    pollfd all[] = {{signals.fd(), POLLIN, 0}, {ended ? -1 : over.fd(), POLLIN, 0}, out.news(), out.reader()};
    ::poll(all, 4, -1);
    ended = ended || all[1].revents != 0;
    reads = out.write(all[3]);
  }
  watching.request_stop();
  one.hang_up();
  watching.join();
  if (ended && why) std::rethrow_exception(why);
  const int by = signals.asked_to_stop();
  return by != 0 ? by_signal + by : int{fine};
}

using duration = boot_clock::duration;

constexpr duration shortest_pause = 1s, longest_pause = 30s;

/// Returns true if the command did not run, but may run next time.
bool may_pass(const run_result& how) {
  return how.cause == "no time" || how.cause == "lost" || (how.cause == "error" && how.of_worker.code == unreachable);
}

class campaigner {
 public:
  campaigner(const elect_options& o, const worker_context& where)
      : options_(o), where_(where), signals_(where.signals) {}

  worker_result go() {
    for (;;) {
      const run_result how = run_once(options_.run, where_);
      const bool ended_by_user = how.of_worker.died_of != 0 || how.asked_to_stop;
      if (ended_by_user || (!how.ran && !may_pass(how))) return how.of_worker;
      if (how.ran) ++terms_;
      if (options_.max_terms != 0 && terms_ >= options_.max_terms) return how.of_worker;
      pause(how);
      if (const int by = signals_.asked_to_stop(); by != 0) return {.code = by_signal + by};
    }
  }

 private:
  /// Backs off while the command fails at once or the store does not answer.
  void pause(const run_result& how) {
    const bool failed = how.cause == "error" || (how.cause == "command" && how.of_worker.code != fine);
    const duration now = failed && how.held_for < longest_pause ? next_ : shortest_pause;
    next_ = failed ? std::min(now * 2, longest_pause) : shortest_pause;
    if (options_.run.hold.verbose) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
      print_message("campaigning again in " + std::to_string(seconds) + "s");
    }
    const boot_clock::time_point until = boot_clock::now() + now;
    while (boot_clock::now() < until && signals_.asked_to_stop() == 0) {
      pollfd one{signals_.fd(), POLLIN, 0};
      ::poll(&one, 1, poll_timeout(until));
    }
  }

  const elect_options& options_;
  const worker_context& where_;  // the same for all terms, so that no signal between two terms is missed
  caught_signals& signals_;
  unsigned terms_ = 0;
  duration next_ = shortest_pause;
};

int elect(const elect_options& o) {
  if (const std::string wrong = contradiction(o.run); !wrong.empty()) {
    std::fprintf(stderr, "holdfast: %s; see holdfast elect --help\n", wrong.c_str());
    return usage;
  }
  return run_in_worker(o.run, [&o](const worker_context& where) { return campaigner(o, where).go(); });
}

int refuse(const std::string& why) {
  std::fprintf(stderr, "holdfast: %s; usage: holdfast elect NAME -- CMD [ARG...], or holdfast elect --observe NAME\n",
               why.c_str());
  return usage;
}

int choose(elect_options& o, const user_command& after_dashes) {
  const std::string wrong = take_command(o.run, after_dashes);
  if (!o.observe) return wrong.empty() ? elect(o) : refuse(wrong);
  if (!o.run.command.empty()) return refuse("--observe runs no command");
  if (o.run.hold.status_fd == STDERR_FILENO)
    o.run.hold.status_fd = STDOUT_FILENO;  // --json: there is no command that uses stdout
  return observe(o);
}

}  // namespace

command_spec describe_elect(const user_command& after_dashes) {
  const auto wanted = std::make_shared<elect_options>();
  elect_options& o = *wanted;
  hold_options& hold = o.run.hold;
  hold.leads = true;
  return {
      .name = "elect",
      .group = "hold",
      .description = "Run a command while this process is the elected leader",
      .examples = {{"holdfast elect scheduler -- ./scheduler", "on each machine; it runs on one"},
                   {"holdfast elect --observe scheduler", "the leader, one line per change"}},
      .usage = "holdfast elect [options] NAME -- CMD [ARG...]\nholdfast elect --observe [options] NAME",
      .options = joined(
          {word_rows(
               {.names = "NAME", .help = "the election, and the name of its lock", .required = true, .single = true},
               hold.names),
           {hold.store.row()},
           hold.lease_rows(),
           command_rows(o.run),
           {json_row(hold),
            {.names = "--max-terms",
             .value = "N",
             .help = "exit after this many terms [0: never]",
             .into = &o.max_terms},
            {.names = "--once",
             .help = "exit after the first term, with the command's exit code",
             .into = [&o] { o.max_terms = 1; },
             .excludes = {"--max-terms"}},
            {.names = "--observe",
             .help = "run no command; print the leader at each change",
             .into = &o.observe,
             .excludes = {"--max-terms", "--once", "--ttl", "--label", "--command", "--max-hold", "--on-lost",
                          "--grace", "--env-prefix", "--verbose"}}}}),
      .footer =
          "HOLDFAST_FENCE in the command's environment is the term. The command is stopped when the leadership is "
          "lost. If the store does not answer, elect tries again forever.\n"
          "Exit codes: after --once or --max-terms those of run; 126, 127 the command cannot be run; 64 usage, 77 "
          "not allowed, 78 configuration, 128+n by signal n.",
      .runs_command = true,
      .after_parse = [&hold] { hold.resolve_ttl(); },
      .act =
          [wanted, &after_dashes] {
            return run_action([&] { return choose(*wanted, after_dashes); }, wanted->run.hold.is_silent());
          }};
}

}  // namespace holdfast::cli
