#include "run/run.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <utility>

#include "exit_code.hpp"
#include "holding/acquisition.hpp"
#include "holding/status.hpp"
#include "process/child.hpp"
#include "process/front.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"
#include "run/supervision.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// What the front has been told to begin with is told to have ended, however that comes about.
class command_of {
 public:
  explicit command_of(front& user_sees) noexcept : front_(user_sees) {}
  command_of(const command_of&) = delete;
  command_of& operator=(const command_of&) = delete;
  ~command_of() { end(); }
  void end() {
    if (!std::exchange(ended_, true)) front_.command_ended();
  }

 private:
  front& front_;
  bool ended_ = false;
};

/// One run in its worker, from the first look at the lock to the end of the command.
class runner {
 public:
  runner(const run_options& o, const run_place& where)
      : options_(o),
        label_(where.label),
        status_(where.told),
        tell_(o.hold, status_),
        signals_(where.signals),
        terminal_(where.tty),
        front_(where.user_sees),
        onlooker_(std::make_shared<onlooker>(status_, o.hold.verbose && !o.hold.quiet, o.hold.quiet)),
        child_(o.command, signals_.before()) {}  // before there is any thread

  run_end go() {
    run_end how;
    how.of_worker.code = hold_and_run_or_tell();
    how.of_worker.died_of = died_of();
    how.of_worker.key_was_for_the_job = key_was_for_the_job_ && died_of() != 0;
    how.cause = cause_;
    how.ran = ran_;
    how.asked_to_stop = asked_to_stop_ || front_.gone() || signals_.asked_to_stop() != 0;
    if (deadline_) how.held_for = boot_clock::now() - deadline_->held_since();
    return how;
  }

 private:
  int hold_and_run_or_tell() {
    try {
      return hold_and_run();
    } catch (const lock_error& e) {
      if (const int by = stopped_by(); by != 0) return end(by_signal + by, "not acquired");
      return end_wrong(code_of(e), "error", e.what());
    }
  }

  /// The key of the terminal that ended us or the command; 0 if there was none. A shell looks at how we ended to see
  /// whether its loop was meant to end, too.
  [[nodiscard]] int died_of() const noexcept {
    return terminal_.there() && (key_ == SIGINT || key_ == SIGQUIT) ? key_ : 0;
  }

  int hold_and_run() {
    store_.emplace(options_.hold.store.open(onlooker_));
    acquisition_.emplace(options_.hold, *store_, signals_, status_, *onlooker_, label_);
    const bool needs_ttl = store_->promises().by == guarantees::exclusion::lease;
    const std::string wrong = needs_ttl ? too_much_grace(options_) : "";
    if (!wrong.empty()) throw lock_error(errc::bad_option, options_.hold.what(), wrong);
    onlooker_->expect_ourselves(held_by_our_caller());
    std::optional<tenure> got = acquisition_->get();
    if (!got) {
      (void)stopped_by();
      return end(acquisition_->code(), "not acquired");
    }
    tenure_ = std::move(*got);
    deadline_.emplace(options_, held(), *onlooker_);
    tell_.acquired(held());
    command_of begun(front_);
    const int failed = start();
    if (failed >= 0) return failed;
    ran_ = true;
    supervision watch({.lost = options_.lost,
                       .held = held(),
                       .due = *deadline_,
                       .tell = tell_,
                       .command = child_,
                       .user_sees = front_,
                       .signals = signals_,
                       .tty = terminal_,
                       .variables = variables_,
                       .lost_why = options_.env_prefix + "_LOST_WHY"});
    watch.to_the_end();
    begun.end();
    return finish(watch);
  }

  int end(int code, std::string_view cause, std::string_view why = {}) {
    cause_ = cause;
    return tell_.end(code, cause, why);
  }
  int end_wrong(int code, std::string_view cause, std::string_view why) {
    cause_ = cause;
    return tell_.end_wrong(code, cause, why);
  }

  [[nodiscard]] const lease& held() const noexcept { return tenure_.as_lease(); }
  /// A signal that ends us, before the command runs; 0 if there is none.
  int stopped_by() { return key_ = signals_.asked_to_stop(); }

  /// The command that runs us is another run's, of a lock that we want: it waits for us, and we for it.
  bool held_by_our_caller() const {
    const char* const names = std::getenv("HOLDFAST_NAMES");
    const char* const url = std::getenv("HOLDFAST_STORE");
    if (names == nullptr || url == nullptr || store_->url() != url) return false;
    const std::string its = "\n" + std::string(names) + "\n";
    return std::ranges::any_of(options_.hold.names,
                               [&](const std::string& name) { return its.find("\n" + name + "\n") != its.npos; });
  }

  /// -1: it runs. Else the exit code.
  int start() {
    if (!front_.may_start(child_.pid(), signals_)) {
      tenure_.give_back();
      const int by = stopped_by();
      return end(by != 0 ? by_signal + by : int{internal}, "not started");
    }
    const auto needed = stopping(options_).all();
    // Whoever has waited may hold it for a short while at first, and would be stopped before it is renewed by itself.
    if (is_renewed(options_) && held().remaining() <= 2 * needed) (void)tenure_.renew(options_.hold.ttl);
    if (!held().held()) return lost_before_it_began();
    if (held().remaining() <= needed) {
      tenure_.give_back();
      return end_wrong(lost, "no time", "less time is left than the command would get to stop in; see --grace");
    }
    variables_ = variables(options_, *store_, held());
    if (terminal_.for_us_alone()) terminal_.give_to(child_.pid());  // before it runs: it may read at once
    const int why = child_.start(variables_);
    if (why != 0) {
      terminal_.take_back();
      tenure_.give_back();
      return end_wrong(why == ENOENT ? not_found : not_executable, "not started",
                       options_.command.front() + ": " + std::strerror(why));
    }
    tell_.started(child_.pid());
    return -1;
  }

  int lost_before_it_began() {
    tenure_.give_back();
    std::string why = onlooker_->loss();
    if (why.empty()) why = "the store says that it was not ours any more";
    tell_.lost(held().fence(), why);
    return end(lost, "lost", why);
  }

  /// After the end of the command, until --min-hold is over; unless we are asked to stop, or the lock is lost.
  void keep() {
    const boot_clock::time_point until = deadline_->held_since() + options_.min_hold;
    if (boot_clock::now() >= until || !held().held()) return;
    tell_.keeping(std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now()));
    const flag loss;
    const std::stop_callback lost(held().lost_token(), [&loss] { loss.set(); });
    while (boot_clock::now() < until && held().held() && signals_.asked_to_stop() == 0) {
      pollfd both[] = {{signals_.fd(), POLLIN, 0}, {loss.fd(), POLLIN, 0}};
      ::poll(both, 2, poll_timeout(until));
    }
  }

  int finish(const supervision& seen) {
    const int status = child_.wait_status();
    tell_.exited(status);
    if (!WIFEXITED(status) && !seen.stopping()) key_ = WTERMSIG(status);
    asked_to_stop_ = seen.asked_to_stop();
    if (!asked_to_stop_ && died_of() == 0) keep();
    const released how = tenure_.give_back();
    key_was_for_the_job_ = seen.key_was_for_the_job();
    tell_.gave_back(how);
    if (front_.gone()) return end_wrong(internal, seen.stopped_for(), seen.why());
    if (!seen.stopped_for().empty()) return end(lost, seen.stopped_for(), seen.why());
    if (!seen.ended_in_time() || how == released::lost) {
      std::string why = seen.why();
      if (!seen.ended_in_time() && why.empty()) why = onlooker_->loss();
      if (why.empty()) why = "the store says that it was not ours any more";
      tell_.uncertain(why);
      return end(uncertain, "uncertain", why);
    }
    return end(WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status), "command");
  }

  const run_options& options_;
  const std::string label_;
  const status& status_;
  const teller tell_;
  caught_signals& signals_;
  terminal& terminal_;
  front& front_;
  const std::shared_ptr<onlooker> onlooker_;
  std::optional<store> store_;
  std::optional<acquisition> acquisition_;
  tenure tenure_;
  std::optional<deadline> deadline_;
  child child_;  // whatever happens, the command is gone before the lock is
  environment variables_;
  std::string cause_;  // of the end, as the status has it
  bool ran_ = false;   // the command
  bool asked_to_stop_ = false;
  int key_ = 0;  // a signal that ended us or the command, and was not ours
  bool key_was_for_the_job_ = false;
};

}  // namespace

run_end run_once(const run_options& o, const run_place& where) { return runner(o, where).go(); }

int in_a_worker(const run_options& o, const std::function<worker_end(const run_place&)>& work) {
  const status told(o.hold.status_fd);
  caught_signals signals;
  terminal tty;
  const std::string label = o.hold.label_for(o.command.front());  // here: others are told of the process that is seen
  const auto killed = [&](int by) {
    return teller(o.hold, told)
        .end_wrong(internal, "killed",
                   "the worker that held the lock was killed by signal " + std::to_string(by) +
                       "; the command was killed, too");
  };
  const auto behind = [&](front& user_sees) { return work({told, signals, tty, user_sees, label}); };
  return behind_a_front(signals, tty, behind, killed);
}

int run(const run_options& o) {
  if (const std::string wrong = contradiction(o); !wrong.empty()) {
    std::fprintf(stderr, "holdfast: %s; see holdfast run --help\n", wrong.c_str());
    return usage;
  }
  if (o.dry_run) return dry_run(o);
  return in_a_worker(o, [&o](const run_place& where) { return run_once(o, where).of_worker; });
}

}  // namespace holdfast::cli
