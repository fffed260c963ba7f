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
#include "hold/acquisition.hpp"
#include "hold/status.hpp"
#include "process/child.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"
#include "process/supervisor.hpp"
#include "process/terminal.hpp"
#include "run/monitor.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

/// Tells the supervisor that the command has ended, on every path.
class command_of {
 public:
  explicit command_of(supervisor_proxy& supervisor) noexcept : supervisor_(supervisor) {}
  command_of(const command_of&) = delete;
  command_of& operator=(const command_of&) = delete;
  ~command_of() { end(); }
  void end() {
    if (!std::exchange(ended_, true)) supervisor_.command_ended();
  }

 private:
  supervisor_proxy& supervisor_;
  bool ended_ = false;
};

/// One run in the worker, from acquiring the lock to the end of the command.
class runner {
 public:
  runner(const run_options& o, const worker_context& where)
      : options_(o),
        label_(where.label),
        status_(where.events),
        report_(o.hold, status_),
        signals_(where.signals),
        terminal_(where.tty),
        supervisor_(where.supervisor),
        recorder_(std::make_shared<event_recorder>(status_, o.hold.verbose && !o.hold.quiet, o.hold.quiet)),
        child_(o.command, signals_.before()) {}  // before any thread is started

  run_result go() {
    run_result how;
    how.of_worker.code = hold_and_run_or_report();
    how.of_worker.died_of = died_of();
    how.of_worker.key_was_for_the_job = key_was_for_the_job_ && died_of() != 0;
    how.cause = cause_;
    how.ran = ran_;
    how.asked_to_stop = asked_to_stop_ || supervisor_.gone() || signals_.asked_to_stop() != 0;
    if (schedule_) how.held_for = boot_clock::now() - schedule_->held_since();
    return how;
  }

 private:
  int hold_and_run_or_report() {
    try {
      return hold_and_run();
    } catch (const lock_error& e) {
      if (const int by = stopped_by(); by != 0) return end(by_signal + by, "not acquired");
      return end_wrong(code_of(e), "error", e.what());
    }
  }

  /// Returns the terminal signal (SIGINT, SIGQUIT) that ended us or the command, or 0. Dying by it makes a shell loop
  /// end too.
  [[nodiscard]] int died_of() const noexcept {
    return terminal_.there() && (key_ == SIGINT || key_ == SIGQUIT) ? key_ : 0;
  }

  int hold_and_run() {
    store_.emplace(options_.hold.store.open(recorder_));
    acquisition_.emplace(options_.hold, *store_, signals_, status_, *recorder_, label_);
    const bool needs_ttl = store_->promises().by == guarantees::exclusion::lease;
    const std::string wrong = needs_ttl ? grace_error(options_) : "";
    if (!wrong.empty()) throw lock_error(errc::bad_option, options_.hold.what(), wrong);
    recorder_->set_nested(held_by_caller());
    std::optional<held_lock> got = acquisition_->get();
    if (!got) {
      (void)stopped_by();
      return end(acquisition_->code(), "not acquired");
    }
    held_lock_ = std::move(*got);
    schedule_.emplace(options_, held(), *recorder_);
    report_.acquired(held());
    command_of begun(supervisor_);
    const int failed = start();
    if (failed >= 0) return failed;
    ran_ = true;
    command_monitor watch({.lost = options_.lost,
                           .held = held(),
                           .due = *schedule_,
                           .report = report_,
                           .command = child_,
                           .supervisor = supervisor_,
                           .signals = signals_,
                           .tty = terminal_,
                           .variables = variables_,
                           .lost_why = options_.env_prefix + "_LOST_WHY"});
    watch.run();
    begun.end();
    return finish(watch);
  }

  int end(int code, std::string_view cause, std::string_view why = {}) {
    cause_ = cause;
    return report_.end(code, cause, why);
  }
  int end_wrong(int code, std::string_view cause, std::string_view why) {
    cause_ = cause;
    return report_.end_wrong(code, cause, why);
  }

  [[nodiscard]] const lease& held() const noexcept { return held_lock_.as_lease(); }
  /// Returns the terminating signal that arrived before the command runs, or 0.
  int stopped_by() { return key_ = signals_.asked_to_stop(); }

  /// Returns whether the process that started us runs under a lock that we want. It waits for us and we wait for it.
  bool held_by_caller() const {
    const char* const names = std::getenv("HOLDFAST_NAMES");
    const char* const url = std::getenv("HOLDFAST_STORE");
    if (names == nullptr || url == nullptr || store_->url() != url) return false;
    const std::string its = "\n" + std::string(names) + "\n";
    return std::ranges::any_of(options_.hold.names,
                               [&](const std::string& name) { return its.find("\n" + name + "\n") != its.npos; });
  }

  /// Returns -1 if the command runs, otherwise the exit code.
  int start() {
    if (!supervisor_.may_start(child_.pid(), signals_)) {
      held_lock_.release();
      const int by = stopped_by();
      return end(by != 0 ? by_signal + by : int{internal}, "not started");
    }
    const auto needed = stop_times(options_).all();
    // After a wait the first grant may be short. Without this renewal the command could be stopped before the regular
    // one.
    if (is_renewed(options_) && held().remaining() <= 2 * needed) (void)held_lock_.renew(options_.hold.ttl);
    if (!held().held()) return lost_before_start();
    if (held().remaining() <= needed) {
      held_lock_.release();
      return end_wrong(lost, "no time", "too little time is left to stop the command in; see --grace");
    }
    variables_ = variables(options_, *store_, held());
    if (terminal_.for_us_alone())
      terminal_.give_to(child_.pid());  // before it runs, because it may read from the terminal at once
    const int why = child_.start(variables_);
    if (why != 0) {
      terminal_.take_back();
      held_lock_.release();
      return end_wrong(why == ENOENT ? not_found : not_executable, "not started",
                       options_.command.front() + ": " + std::strerror(why));
    }
    report_.started(child_.pid());
    return -1;
  }

  int lost_before_start() {
    held_lock_.release();
    std::string why = recorder_->loss();
    if (why.empty()) why = "the store says that it was not ours any more";
    report_.lost(held().fence(), why);
    return end(lost, "lost", why);
  }

  /// Holds the lock after the command's end until --min-hold is over, a signal arrives, or the lock is lost.
  void keep() {
    const boot_clock::time_point until = schedule_->held_since() + options_.min_hold;
    if (boot_clock::now() >= until || !held().held()) return;
    report_.keeping(std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now()));
    const flag loss;
    const std::stop_callback lost(held().lost_token(), [&loss] { loss.set(); });
    while (boot_clock::now() < until && held().held() && signals_.asked_to_stop() == 0) {
      pollfd both[] = {{signals_.fd(), POLLIN, 0}, {loss.fd(), POLLIN, 0}};
      ::poll(both, 2, poll_timeout(until));
    }
  }

  int finish(const command_monitor& seen) {
    const int status = child_.wait_status();
    report_.exited(status);
    if (!WIFEXITED(status) && !seen.stopping()) key_ = WTERMSIG(status);
    asked_to_stop_ = seen.asked_to_stop();
    if (!asked_to_stop_ && died_of() == 0) keep();
    const released how = held_lock_.release();
    key_was_for_the_job_ = seen.key_was_for_the_job();
    report_.released_as(how);
    if (supervisor_.gone()) return end_wrong(internal, seen.stopped_for(), seen.why());
    if (!seen.stopped_for().empty()) return end(lost, seen.stopped_for(), seen.why());
    if (!seen.ended_in_time() || how == released::lost) {
      std::string why = seen.why();
      if (!seen.ended_in_time() && why.empty()) why = recorder_->loss();
      if (why.empty()) why = "the store says that it was not ours any more";
      report_.uncertain(why);
      return end(uncertain, "uncertain", why);
    }
    return end(WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status), "command");
  }

  const run_options& options_;
  const std::string label_;
  const status& status_;
  const reporter report_;
  caught_signals& signals_;
  terminal& terminal_;
  supervisor_proxy& supervisor_;
  const std::shared_ptr<event_recorder> recorder_;
  std::optional<store> store_;
  std::optional<acquisition> acquisition_;
  held_lock held_lock_;
  std::optional<stop_schedule> schedule_;
  child child_;  // destroyed first, so that the command ends before the lock
  environment variables_;
  std::string cause_;  // the "cause" of the event "end"
  bool ran_ = false;   // the command ran
  bool asked_to_stop_ = false;
  int key_ = 0;  // the signal that ended us or the command
  bool key_was_for_the_job_ = false;
};

}  // namespace

run_result run_once(const run_options& o, const worker_context& where) { return runner(o, where).go(); }

int run_in_worker(const run_options& o, const std::function<worker_result(const worker_context&)>& work) {
  const status events(o.hold.status_fd);
  caught_signals signals;
  terminal tty;
  const std::string label =
      o.hold.label_for(o.command.front());  // made here, so that other clients see the pid of the supervisor
  const auto killed = [&](int by) {
    return reporter(o.hold, events)
        .end_wrong(internal, "killed",
                   "the worker that held the lock was killed by signal " + std::to_string(by) +
                       "; the command was killed, too");
  };
  const auto behind = [&](supervisor_proxy& supervisor) { return work({events, signals, tty, supervisor, label}); };
  return run_supervised(signals, tty, behind, killed);
}

int run(const run_options& o) {
  if (const std::string wrong = contradiction(o); !wrong.empty()) {
    std::fprintf(stderr, "holdfast: %s; see holdfast run --help\n", wrong.c_str());
    return usage;
  }
  if (o.dry_run) return dry_run(o);
  return run_in_worker(o, [&o](const worker_context& where) { return run_once(o, where).of_worker; });
}

}  // namespace holdfast::cli
