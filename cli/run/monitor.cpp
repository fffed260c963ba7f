#include "run/monitor.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "process/io.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

/// The longest time that is left after a renewal.
milliseconds shorter(const run_options& o) noexcept {
  return o.hold.max_hold > 0ms ? std::min(o.hold.ttl, o.hold.max_hold) : o.hold.ttl;
}

}  // namespace

bool is_renewed(const run_options& o) noexcept { return o.hold.max_hold == 0ms || o.hold.max_hold > o.hold.ttl; }

stop_times::stop_times(const run_options& o)
    : grace(o.grace.value_or(std::min<milliseconds>(5s, shorter(o) / 4))),
      margin(std::min<std::chrono::microseconds>(50ms, std::chrono::microseconds(shorter(o)) / 20)) {}

std::string contradiction(const run_options& o) {
  if (const std::string wrong = o.hold.contradiction(); !wrong.empty()) return wrong;
  if (o.hold.max_hold > 0ms && o.min_hold >= o.hold.max_hold) return "--min-hold must be shorter than --max-hold";
  if (o.hold.max_hold == 0ms || stop_times(o).all() < o.hold.max_hold) return "";
  return "--max-hold must be longer than --grace, in which the command stops, plus a twentieth of itself (at most "
         "50ms)";
}

// A lease is renewed after a third of its ttl. With a longer grace the command would be stopped before the renewal, or
// before its reply.
std::string grace_error(const run_options& o) {
  if (!is_renewed(o) || stop_times(o).grace <= o.hold.ttl / 2) return "";
  return "--grace must be at most half of --ttl, which is " + std::to_string((o.hold.ttl / 2).count()) +
         "ms here: otherwise the command would be stopped before the lock is renewed";
}

namespace {

constexpr boot_clock::duration grace_after_loss = 1s;  // another client may hold the lock by now

}  // namespace

stop_schedule::stop_schedule(const run_options& o, const lease& held, event_recorder& sees)
    : options_(o), lease_(held), recorder_(sees), before_(o) {}

stop_schedule::phase stop_schedule::look() const {
  if (!lease_.held()) return phase::lost;
  return boot_clock::now() >= expiring_at() ? phase::expiring : phase::held;
}

stop_schedule::instant stop_schedule::expiring_at() const {
  const instant end = lease_.deadline();
  if (end == never) return never;
  return end < instant(before_.all()) ? instant() : end - before_.all();  // instant(): the lease is lost
}

stop_schedule::instant stop_schedule::kill_at(phase d) const {
  const instant now = boot_clock::now();
  if (d == phase::expiring) return std::max(now, lease_.deadline()) - before_.margin;  // the deadline may have passed
  return now + std::min<boot_clock::duration>(before_.grace, grace_after_loss);
}

stop_schedule::instant stop_schedule::kill_leftovers_at() const {
  const auto left = std::max<boot_clock::duration>(lease_.remaining() - before_.margin, 0ms);
  return boot_clock::now() + std::min<boot_clock::duration>(before_.grace, left);
}

stop_schedule::reason stop_schedule::why(phase d, boot_clock::duration at_most) const {
  const instant at = d == phase::expiring ? lease_.deadline() : boot_clock::now();
  if (options_.hold.max_hold_ends(held_since_, at)) return {true, "--max-hold is over"};
  std::string words = d == phase::expiring ? recorder_.unrenewed() : recorder_.loss(at_most);
  if (words.empty()) words = d == phase::expiring ? "no answer yet" : "its time is over";
  return {false, words};
}

command_monitor::command_monitor(parts of)
    : parts_(std::move(of)), lost_(parts_.held.lost_token(), [this] { loss_.set(); }) {}

void command_monitor::run() {
  for (;;) {
    if (!ended_) check_lock();
    if (ended_ && parts_.command.all_gone()) return;
    wait();
    read_supervisor();
    handle_signals();
    check_command();
    // Leftover processes get no more time than the lock.
    const bool no_more_time = boot_clock::now() >= next_ || (parts_.lost.signal != 0 && !parts_.held.held());
    if (ended_ && no_more_time) stop(SIGKILL, boot_clock::now() + 100ms);
  }
}

void command_monitor::wait() {
  pollfd all[] = {{parts_.signals.fd(), POLLIN, 0},
                  {parts_.supervisor.gone() ? -1 : parts_.supervisor.fd(), POLLIN, 0},
                  {ended_ ? -1 : loss_.fd(), POLLIN, 0}};
  ::poll(all, 3, poll_timeout(ended_ ? std::min(next_, boot_clock::now() + 10ms) : next_));
}

void command_monitor::read_supervisor() {
  if (parts_.supervisor.gone()) return;
  const supervisor_proxy::answer now = parts_.supervisor.hear();
  if (parts_.supervisor.gone()) {
    stopped_for_ = "killed";
    why_ = "holdfast itself was killed";
    stop(SIGKILL, boot_clock::now() + 100ms);
  } else if (now != supervisor_proxy::answer::none && std::exchange(suspended_, false)) {
    if (ended_) return;  // the terminal is ours again, and the command's group id may be reused
    check_lock();        // first: we may have been stopped for long
    if (now == supervisor_proxy::answer::continued || !wants_foreground_) resume();
  }
}

void command_monitor::handle_signals() {
  while (const int number = parts_.signals.next()) {
    if (number == SIGCONT && !ended_) check_lock();  // we may have been stopped for long
    if (is_terminating(number) && !parts_.signals.ignored(number)) asked_to_stop_ = true;
    if (number == SIGTSTP) {
      parts_.command.signal_group(SIGSTOP);
      suspend(false);
    } else if (number != SIGCHLD && !parts_.supervisor.gone()) {
      parts_.command.signal_group(number);
    }
  }
}

void command_monitor::check_command() {
  const child::change what = parts_.command.look();
  if (what == child::change::stopped && (parts_.tty.given() || stopped_by_terminal())) {
    suspend(parts_.command.stop_signal() == SIGTTIN || parts_.command.stop_signal() == SIGTTOU);
  }
  if (what == child::change::ended) handle_exit();
}

void command_monitor::handle_exit() {
  ended_ = true;
  ended_in_time_ = parts_.held.held();
  pass_on_ = parts_.tty.given() && !parts_.tty.for_us_alone() && !stopping_;
  parts_.tty.take_back();
  next_ = never;
  if (parts_.command.all_gone()) return;
  if (parts_.supervisor.gone()) return stop(SIGKILL, boot_clock::now() + 100ms);
  parts_.report.left_behind();  // nothing may keep running without the lock
  stop(SIGTERM, std::min(parts_.due.kill_leftovers_at(), kill_at_.value_or(never)));
}

void command_monitor::check_lock() {
  const instant now = boot_clock::now();
  loss_.take();  // it only wakes us up; the lease decides
  if (parts_.lost.signal == 0) {
    next_ = never;
    if (!parts_.held.held()) report_end(stop_schedule::phase::lost, event_recorder::longest_doubt);
    return;
  }
  if (kill_at_ && (now >= next_ || !parts_.command.hook_runs())) {  // the hook has ended or used up its time
    stop(parts_.lost.signal, *std::exchange(kill_at_, std::nullopt));
  } else if (stopping_) {
    if (now >= next_) stop(SIGKILL, now + 100ms);
  } else if (const stop_schedule::phase is = parts_.due.look(); is != stop_schedule::phase::held) {
    begin_stop(is);
  } else {
    next_ = parts_.due.expiring_at();
  }
}

void command_monitor::begin_stop(stop_schedule::phase is) {
  const instant kill_at = parts_.due.kill_at(is);
  if (parts_.lost.line.empty()) {
    stop(parts_.lost.signal, kill_at);
    report_end(is, std::min(event_recorder::longest_doubt, kill_at - boot_clock::now()));
  } else {
    report_end(is, 100ms);  // before the hook starts, because it receives the reason; the command keeps running
    start_hook(kill_at);
  }
}

/// Reports the end of the lock; waits at most `at_most` for the reason.
void command_monitor::report_end(stop_schedule::phase is, boot_clock::duration at_most) {
  if (is == stop_schedule::phase::lost && std::exchange(loss_reported_, true)) return;
  const stop_schedule::reason r = parts_.due.why(is, at_most);
  why_ = r.words;
  if (parts_.lost.signal != 0) stopped_for_ = is == stop_schedule::phase::expiring && r.max_hold ? "max_hold" : "lost";
  if (is == stop_schedule::phase::lost) {
    parts_.report.lost(parts_.held.fence(), why_);
  } else {
    parts_.report.ending(why_, r.max_hold);
  }
}

/// The hook gets half of the time that is left. Then the command is signalled, whether the hook has ended or not.
void command_monitor::start_hook(instant kill_at) {
  stopping_ = true;
  environment more = parts_.variables;
  std::erase_if(more, [&](const auto& each) { return each.first == parts_.lost_why; });
  more.emplace_back(parts_.lost_why, why_);
  try {
    parts_.command.run_hook(parts_.lost.line, more, parts_.signals.before());
    kill_at_ = kill_at;
    next_ = boot_clock::now() + (kill_at - boot_clock::now()) / 2;
  } catch (const std::system_error& e) {
    parts_.report.hook_failed(e.what());
    stop(parts_.lost.signal, kill_at);
  }
}

void command_monitor::stop(int number, instant kill_at) {
  stopping_ = true;
  if (!parts_.command.signal_all(number) && !std::exchange(not_allowed_reported_, true)) parts_.report.not_allowed();
  if (number != SIGKILL && number != SIGCONT && number != SIGSTOP) {
    parts_.command.signal_all(SIGCONT);  // a stopped process must run to handle the signal
  }
  next_ = kill_at;
}

bool command_monitor::stopped_by_terminal() const noexcept {
  const int by = parts_.command.stop_signal();
  return parts_.tty.there() && (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU);
}

/// The command was suspended, and the shell should see the whole job as suspended. If the command only needs the
/// foreground and we have it now, resumes it instead.
void command_monitor::suspend(bool wants_foreground) {
  if (suspended_) return;
  parts_.tty.take_back();
  if (wants_foreground && parts_.tty.ours()) return resume();
  suspended_ = true;
  wants_foreground_ = wants_foreground;
  parts_.supervisor.stop();
}

void command_monitor::resume() {
  parts_.tty.give_to(parts_.command.pid());
  parts_.command.signal_group(SIGCONT);
}

}  // namespace holdfast::cli
