#include "run.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <system_error>
#include <utility>

#include "child.hpp"
#include "exit_code.hpp"
#include "flag.hpp"
#include "onlooker.hpp"
#include "signals.hpp"
#include "status.hpp"
#include "stopping.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using instant = boot_clock::time_point;

constexpr instant never = instant::max();
constexpr auto grace_after_loss = 1s;  // somebody else may hold it by now

/// Until then, but no longer than poll() can wait.
int poll_timeout(instant until) noexcept {
  if (until == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
}

/// Others read it, in the store and while they wait: the arguments of the command may be secrets, and are left out.
std::string who_we_are(const std::string& program) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string base = program.substr(program.rfind('/') + 1);
  std::string text = std::string(host) + " pid " + std::to_string(::getpid()) + ": " + base;
  if (text.size() > 200) text = text.substr(0, 197) + "...";
  return text;
}

/// One run, from the first look at the lock to the end of the command.
class runner {
 public:
  explicit runner(const run_options& o)
      : options_(o),
        before_deadline_(o),
        status_(o.status_fd),
        onlooker_(std::make_shared<onlooker>(status_, o.verbose && !o.quiet)),
        child_(o.command, signals_.before()) {}  // before there is any thread

  /// The key of the terminal that ended us or the command; 0 if there was none.
  [[nodiscard]] int died_of() const noexcept {
    return terminal_.there() && (key_ == SIGINT || key_ == SIGQUIT) ? key_ : 0;
  }

  int go() {
    try {
      return hold_and_run();
    } catch (const lock_error& e) {
      if (const int by = asked_to_stop(); by != 0) return end(by_signal + by, "not acquired");
      say(e.what());
      return end(code_of(e), "error");
    }
  }

 private:
  int hold_and_run() {
    store_.emplace(open(options_.store, {.observe = onlooker_}));
    const bool needs_ttl = store_->promises().by == guarantees::exclusion::lease;
    const std::string wrong = needs_ttl ? too_much_grace(options_) : "";
    if (!wrong.empty()) throw lock_error(errc::bad_option, options_.name, wrong);
    onlooker_->expect_ourselves(held_by_our_caller());
    const int not_had = acquire();
    if (not_had >= 0) return end(not_had, "not acquired");
    const int failed = start();
    if (failed >= 0) return failed;
    watch();
    return finish();
  }

  void say(const std::string& line) const {
    if (!options_.quiet) std::fprintf(stderr, "holdfast: %s\n", line.c_str());
  }
  void say_more(const std::string& line) const {
    if (options_.verbose) say(line);
  }
  int end(int code, std::string_view cause, std::string_view why = {}) const {
    if (why.empty()) {
      status_.tell("end", {{"exit", std::int64_t{code}}, {"cause", cause}});
    } else {
      status_.tell("end", {{"exit", std::int64_t{code}}, {"cause", cause}, {"why", why}});
    }
    return code;
  }

  // ---- the lock -----------------------------------------------------------------------------------------------------

  /// The command that runs us is another run's, of the same lock: it waits for us, and we for it.
  bool held_by_our_caller() const {
    const char* const name = std::getenv("HOLDFAST_NAME");
    const char* const url = std::getenv("HOLDFAST_STORE");
    return name != nullptr && url != nullptr && options_.name == name && store_->url() == url;
  }

  /// -1: it is ours. Else the exit code.
  int acquire() {
    const lock_options how{.ttl = options_.ttl, .max_hold = options_.max_hold, .label = label_};
    const instant last = options_.wait ? within(*options_.wait).at() : never;
    std::optional<lease> got = look(how, last);
    const bool go_on = asked_to_stop() == 0;  // while the store was opened and asked
    if (!got && go_on && options_.wait != 0ms) got = wait_for(how, last);
    if (key_ != 0) return by_signal + key_;
    if (!got) {
      const std::string line = "busy: " + onlooker_->busy_line(options_.name, options_.wait == 0ms ? 1 : 2);
      options_.skip ? say_more(line) : say(line);
      status_.tell("busy", {{"name", options_.name}});
      return options_.skip ? fine : options_.busy_code;
    }
    lease_ = std::move(*got);
    held_since_ = boot_clock::now();
    lost_.emplace(lease_.lost_token(), [this] { loss_.set(); });
    status_.tell("acquired", {{"name", options_.name}, {"fence", lease_.fence()}, {"owner", owner_ = lease_.owner()}});
    say_more("acquired " + options_.name + ", fence " + std::to_string(lease_.fence()));
    return -1;
  }

  /// The last signal that ends us, of those that have ever come; 0 if there is none. Before the command runs.
  int asked_to_stop() {
    while (const int number = signals_.next()) {
      if (number == SIGTSTP) signals_.stop_here();
      if (ends_us(number) && !signals_.ignored(number)) key_ = number;
    }
    return key_;
  }

  /// The usual case, without the detour of waiting. A store that gives no answer yet may give one later: whoever waits
  /// asks it again, with the library's patience.
  std::optional<lease> look(const lock_options& how, instant last) {
    const instant patience_ends = boot_clock::now() + open_options().patience;
    try {
      return store_->try_acquire(options_.name, how);
    } catch (const lock_error& e) {
      const bool may_pass = e.code() == errc::unreachable || e.code() == errc::not_ready;
      if (!may_pass || boot_clock::now() >= std::min(last, patience_ends)) throw;
      say_more(std::string(e.what()) + "; asking again");
      return std::nullopt;
    }
  }

  /// Signals are heard meanwhile.
  std::optional<lease> wait_for(const lock_options& how, instant last) {
    std::stop_source give_up;
    std::error_code why;
    std::optional<lease> got;
    const limit until(last, give_up.get_token());
    store_->async_try_acquire(options_.name, until, how, [&](std::error_code e, std::optional<lease> l) {
      why = e;
      got = std::move(l);
      answered_.set();
    });
    for (bool over = false; !over;) {
      pollfd both[] = {{signals_.fd(), POLLIN, 0}, {answered_.fd(), POLLIN, 0}};
      ::poll(both, 2, -1);
      if (asked_to_stop() != 0) give_up.request_stop();
      over = both[1].revents != 0;
    }
    answered_.take();
    if (why) throw lock_error(why, options_.name, onlooker_->trouble());
    return got;
  }

  // ---- the command --------------------------------------------------------------------------------------------------

  /// -1: it runs. Else the exit code.
  int start() {
    if (const int by = asked_to_stop(); by != 0) {
      lease_.release();
      return end(by_signal + by, "not started");
    }
    const auto needed = before_deadline_.all();
    // Whoever has waited may hold it for a short while at first, and would be stopped before it is renewed by itself.
    if (is_renewed(options_) && lease_.remaining() <= 2 * needed) (void)lease_.renew(options_.ttl);
    if (lease_.remaining() <= needed) {
      say("less time is left than the command would get to stop in; see --grace");
      lease_.release();
      return end(lost, "no time");
    }
    if (terminal_.for_us_alone()) terminal_.give_to(child_.pid());  // before it runs: it may read at once
    const int why = child_.start({{"HOLDFAST_NAME", options_.name},
                                  {"HOLDFAST_FENCE", std::to_string(lease_.fence())},
                                  {"HOLDFAST_OWNER", owner_},
                                  {"HOLDFAST_STORE", store_->url()}});
    if (why != 0) {
      terminal_.take_back();
      say(options_.command.front() + ": " + std::strerror(why));
      lease_.release();
      return end(why == ENOENT ? not_found : not_executable, "not started");
    }
    status_.tell("started", {{"pid", std::int64_t{child_.pid()}}});
    return -1;
  }

  /// To the end of the command, and of all that it has left behind.
  void watch() {
    bool ended = false;
    for (;;) {
      if (!ended) mind_the_deadline();
      if (ended && child_.all_gone()) return;
      pollfd all[] = {{signals_.fd(), POLLIN, 0}, {loss_.fd(), POLLIN, 0}};
      ::poll(all, ended ? 1 : 2, poll_timeout(ended ? std::min(next_, boot_clock::now() + 10ms) : next_));
      while (const int number = signals_.next()) {
        if (number == SIGCONT && !ended) mind_the_deadline();  // who knows how long we were stopped
        if (number == SIGTSTP) {  // a command that ran on while we stand still would not be watched
          child_.signal_group(SIGSTOP);
          stop_with_it(false);
        } else if (number != SIGCHLD) {
          child_.signal_group(number);
        }
      }
      const child::change what = child_.look();
      if (what == child::change::stopped && (terminal_.given() || stopped_by_terminal())) {
        stop_with_it(child_.stop_signal() == SIGTTIN || child_.stop_signal() == SIGTTOU);
      }
      if (what == child::change::ended) {
        ended = true;
        ended_in_time_ = lease_.held();
        pass_on_ = terminal_.given() && !terminal_.for_us_alone() && !stopping_;
        terminal_.take_back();
        next_ = never;
        if (!child_.all_gone()) {  // nothing of it may run on without the lock
          say_more("ending what the command left behind");
          const auto left = std::max<boot_clock::duration>(lease_.remaining() - before_deadline_.margin, 0ms);
          stop(SIGTERM, boot_clock::now() + std::min<boot_clock::duration>(before_deadline_.grace, left));
        }
      }
      if (ended && boot_clock::now() >= next_) stop(SIGKILL, boot_clock::now() + 100ms);
    }
  }

  /// The command is asked to stop early enough, and made to before the lock can be another's.
  void mind_the_deadline() {
    const instant now = boot_clock::now();
    loss_.take();  // it only wakes us; what counts is the lease
    if (options_.on_lost == 0) {
      next_ = never;
      if (!lease_.held()) tell_loss();
      return;
    }
    if (stopping_) {
      if (now >= next_) stop(SIGKILL, now + 100ms);
      return;
    }
    if (!lease_.held()) {
      stopped_for_ = "lost";
      stop(options_.on_lost, now + std::min<boot_clock::duration>(before_deadline_.grace, grace_after_loss));
      tell_loss();
      return;
    }
    const instant deadline = lease_.deadline();
    if (deadline == never) {
      next_ = never;
    } else if (now >= deadline - before_deadline_.all()) {
      stop(options_.on_lost, deadline - before_deadline_.margin);
      tell_ending(deadline);
    } else {
      next_ = deadline - before_deadline_.all();
    }
  }

  /// At that time, or a little later: leases end early, by a part of their ttl.
  [[nodiscard]] bool max_hold_ends(instant at) const {
    const auto early = std::min(options_.ttl, options_.max_hold) / 10 + 100ms;
    return options_.max_hold > 0ms && at >= held_since_ + options_.max_hold - early;
  }

  void tell_ending(instant deadline) {
    if (max_hold_ends(deadline)) {
      stopped_for_ = "max_hold";
      why_ = "--max-hold is over";
      say(options_.name + ": " + why_ + "; stopping the command");
    } else {
      stopped_for_ = "lost";
      why_ = onlooker_->unrenewed();
      if (why_.empty()) why_ = "no answer yet";
      say(options_.name + ": the lock ends soon, and cannot be renewed: " + why_ + "; stopping the command");
    }
    status_.tell("ending", {{"name", options_.name}, {"why", why_}});
  }

  void tell_loss() {
    if (std::exchange(loss_told_, true)) return;
    why_ = max_hold_ends(boot_clock::now()) ? "--max-hold is over" : onlooker_->loss(100ms);
    if (why_.empty()) why_ = "its time is over";
    say(options_.name + ": the lock was lost: " + why_);
    status_.tell("lost", {{"name", options_.name}, {"fence", lease_.fence()}, {"why", why_}});
  }

  void stop(int number, instant kill_at) {
    stopping_ = true;
    child_.signal_all(number);
    if (number != SIGKILL && number != SIGCONT && number != SIGSTOP)
      child_.signal_all(SIGCONT);  // a stopped one must run to hear it
    next_ = kill_at;
  }

  [[nodiscard]] bool stopped_by_terminal() const noexcept {
    const int by = child_.stop_signal();
    return terminal_.there() && (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU);
  }

  /// The command stands still, and the shell wants to see us do so, too; unless it only wants the foreground, and we
  /// have it by now. After that: see whether the lock is still ours before anything else.
  void stop_with_it(bool wants_foreground) {
    terminal_.take_back();
    bool go_on = !wants_foreground || terminal_.ours();
    if (!wants_foreground || !go_on) signals_.stop_here();
    while (const int number = signals_.next()) {
      if (number == SIGCONT) go_on = true;
      if (number != SIGCHLD && number != SIGCONT && number != SIGTSTP) child_.signal_group(number);
    }
    mind_the_deadline();
    if (!go_on) return;
    terminal_.give_to(child_.pid());
    child_.signal_group(SIGCONT);
  }

  int finish() {
    const int status = child_.wait_status();
    const bool by_exit = WIFEXITED(status);
    const int code = by_exit ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
    if (by_exit) {
      status_.tell("exited", {{"code", std::int64_t{code}}});
    } else {
      status_.tell("exited", {{"signal", std::int64_t{WTERMSIG(status)}}});
    }
    lost_.reset();
    const released how = lease_.release();
    if (!by_exit && !stopping_) key_ = WTERMSIG(status);
    if (pass_on_ && died_of() != 0) ::kill(0, died_of());  // the key was meant for the script, too
    status_.tell("released", {{"certain", std::int64_t{how == released::yes}}});
    if (!stopped_for_.empty()) return end(lost, stopped_for_, why_);
    if (!ended_in_time_ || how == released::lost) {
      if (!ended_in_time_ && why_.empty()) why_ = onlooker_->loss(100ms);
      if (why_.empty()) why_ = "the store says that it was not ours any more";
      say(options_.name + ": the command ended, but the lock was not certain to be ours to the end: " + why_);
      return end(uncertain, "uncertain", why_);
    }
    return end(code, "command");
  }

  const run_options& options_;
  const stopping before_deadline_;
  const std::string label_ = options_.label.value_or(who_we_are(options_.command.front()));
  const status status_;
  caught_signals signals_;
  terminal terminal_;
  const std::shared_ptr<onlooker> onlooker_;
  std::optional<store> store_;
  lease lease_;
  child child_;  // whatever happens, the command is gone before the lock is
  flag answered_, loss_;
  std::string owner_;
  std::optional<std::stop_callback<std::function<void()>>> lost_;
  instant held_since_{};
  instant next_ = never;  // when the command is to be asked to stop, or killed
  bool stopping_ = false;
  std::string stopped_for_;  // lost, max_hold; nothing: the command was not stopped by us
  std::string why_;          // in words
  bool loss_told_ = false;
  bool ended_in_time_ = false;
  int key_ = 0;           // a signal that ended us or the command, and was not ours
  bool pass_on_ = false;  // a key of the terminal that ended the command was meant for all of the job
};

}  // namespace

int run(const run_options& o) {
  if (const std::string wrong = contradiction(o); !wrong.empty()) {
    std::fprintf(stderr, "holdfast: %s; see holdfast run --help\n", wrong.c_str());
    return usage;
  }
  int code = 0, died_of = 0;
  {
    runner one(o);
    code = one.go();
    died_of = one.died_of();
  }
  if (died_of != 0) {  // a shell looks at how we ended to see whether its loop was meant to end, too
    die_of(died_of);
  }
  return code;
}

}  // namespace holdfast::cli
