#include "run/supervision.hpp"

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

/// What there is of the lock at most when it was just renewed.
milliseconds shorter(const run_options& o) noexcept {
  return o.hold.max_hold > 0ms ? std::min(o.hold.ttl, o.hold.max_hold) : o.hold.ttl;
}

}  // namespace

bool is_renewed(const run_options& o) noexcept { return o.hold.max_hold == 0ms || o.hold.max_hold > o.hold.ttl; }

stopping::stopping(const run_options& o)
    : grace(o.grace.value_or(std::min<milliseconds>(5s, shorter(o) / 4))),
      margin(std::min<std::chrono::microseconds>(50ms, std::chrono::microseconds(shorter(o)) / 20)) {}

std::string contradiction(const run_options& o) {
  if (const std::string wrong = o.hold.contradiction(); !wrong.empty()) return wrong;
  if (o.hold.max_hold > 0ms && o.min_hold >= o.hold.max_hold) return "--min-hold must be shorter than --max-hold";
  if (o.hold.max_hold == 0ms || stopping(o).all() < o.hold.max_hold) return "";
  return "--max-hold must be longer than --grace, in which the command stops, and a twentieth of itself (50ms at most)";
}

// A lease is renewed when a third of its ttl is over. A command that is stopped with more than half of it to go would
// be stopped before that, or before the answer is there.
std::string too_much_grace(const run_options& o) {
  if (!is_renewed(o) || stopping(o).grace <= o.hold.ttl / 2) return "";
  return "--grace must be at most half of --ttl, which is " + std::to_string((o.hold.ttl / 2).count()) +
         "ms here: else the command would be stopped before the lock can be renewed";
}

namespace {

constexpr boot_clock::duration grace_after_loss = 1s;  // somebody else may hold it by now

}  // namespace

deadline::deadline(const run_options& o, const lease& held, onlooker& sees)
    : options_(o), lease_(held), onlooker_(sees), before_(o) {}

deadline::distance deadline::look() const {
  if (!lease_.held()) return distance::over;
  return boot_clock::now() >= near_at() ? distance::near : distance::far;
}

deadline::instant deadline::near_at() const {
  const instant end = lease_.deadline();
  if (end == never) return never;
  return end < instant(before_.all()) ? instant() : end - before_.all();  // min(): it is lost by now
}

deadline::instant deadline::kill_at(distance d) const {
  const instant now = boot_clock::now();
  if (d == distance::near) return std::max(now, lease_.deadline()) - before_.margin;  // it may be lost by now
  return now + std::min<boot_clock::duration>(before_.grace, grace_after_loss);
}

deadline::instant deadline::kill_leftovers_at() const {
  const auto left = std::max<boot_clock::duration>(lease_.remaining() - before_.margin, 0ms);
  return boot_clock::now() + std::min<boot_clock::duration>(before_.grace, left);
}

deadline::reason deadline::why(distance d, boot_clock::duration at_most) const {
  const instant at = d == distance::near ? lease_.deadline() : boot_clock::now();
  if (options_.hold.max_hold_ends(held_since_, at)) return {true, "--max-hold is over"};
  std::string words = d == distance::near ? onlooker_.unrenewed() : onlooker_.loss(at_most);
  if (words.empty()) words = d == distance::near ? "no answer yet" : "its time is over";
  return {false, words};
}

supervision::supervision(parts of) : of_(std::move(of)), lost_(of_.held.lost_token(), [this] { loss_.set(); }) {}

void supervision::to_the_end() {
  for (;;) {
    if (!ended_) mind_the_lock();
    if (ended_ && of_.command.all_gone()) return;
    wait();
    hear_front();
    hear_signals();
    see_the_command();
    // What is left behind has no more time than the lock.
    const bool no_more_time = boot_clock::now() >= next_ || (of_.lost.signal != 0 && !of_.held.held());
    if (ended_ && no_more_time) stop(SIGKILL, boot_clock::now() + 100ms);
  }
}

void supervision::wait() {
  pollfd all[] = {{of_.signals.fd(), POLLIN, 0},
                  {of_.user_sees.gone() ? -1 : of_.user_sees.fd(), POLLIN, 0},
                  {ended_ ? -1 : loss_.fd(), POLLIN, 0}};
  ::poll(all, 3, poll_timeout(ended_ ? std::min(next_, boot_clock::now() + 10ms) : next_));
}

void supervision::hear_front() {
  if (of_.user_sees.gone()) return;
  const front::answer now = of_.user_sees.hear();
  if (of_.user_sees.gone()) {
    stopped_for_ = "killed";
    why_ = "holdfast itself was killed";
    stop(SIGKILL, boot_clock::now() + 100ms);
  } else if (now != front::answer::none && std::exchange(suspended_, false)) {
    if (ended_) return;  // the terminal is ours again, and the command's number may be another's
    mind_the_lock();     // before anything else: who knows how long we stood still
    if (now == front::answer::continued || !wants_foreground_) resume();
  }
}

void supervision::hear_signals() {
  while (const int number = of_.signals.next()) {
    if (number == SIGCONT && !ended_) mind_the_lock();  // who knows how long we were stopped
    if (ends_us(number) && !of_.signals.ignored(number)) asked_to_stop_ = true;
    if (number == SIGTSTP) {
      of_.command.signal_group(SIGSTOP);
      suspend(false);
    } else if (number != SIGCHLD && !of_.user_sees.gone()) {
      of_.command.signal_group(number);
    }
  }
}

void supervision::see_the_command() {
  const child::change what = of_.command.look();
  if (what == child::change::stopped && (of_.tty.given() || stopped_by_terminal())) {
    suspend(of_.command.stop_signal() == SIGTTIN || of_.command.stop_signal() == SIGTTOU);
  }
  if (what == child::change::ended) after_the_end();
}

void supervision::after_the_end() {
  ended_ = true;
  ended_in_time_ = of_.held.held();
  pass_on_ = of_.tty.given() && !of_.tty.for_us_alone() && !stopping_;
  of_.tty.take_back();
  next_ = never;
  if (of_.command.all_gone()) return;
  if (of_.user_sees.gone()) return stop(SIGKILL, boot_clock::now() + 100ms);
  of_.tell.left_behind();  // nothing of it may run on without the lock
  stop(SIGTERM, std::min(of_.due.kill_leftovers_at(), kill_at_.value_or(never)));
}

void supervision::mind_the_lock() {
  const instant now = boot_clock::now();
  loss_.take();  // it only wakes us; what counts is the lease
  if (of_.lost.signal == 0) {
    next_ = never;
    if (!of_.held.held()) note(deadline::distance::over, onlooker::longest_doubt);
    return;
  }
  if (kill_at_ && (now >= next_ || !of_.command.runs_beside())) {  // the line had its time, or has ended
    stop(of_.lost.signal, *std::exchange(kill_at_, std::nullopt));
  } else if (stopping_) {
    if (now >= next_) stop(SIGKILL, now + 100ms);
  } else if (const deadline::distance is = of_.due.look(); is != deadline::distance::far) {
    begin_to_stop(is);
  } else {
    next_ = of_.due.near_at();
  }
}

void supervision::begin_to_stop(deadline::distance is) {
  const instant kill_at = of_.due.kill_at(is);
  if (of_.lost.line.empty()) {
    stop(of_.lost.signal, kill_at);
    note(is, std::min(onlooker::longest_doubt, kill_at - boot_clock::now()));
  } else {
    note(is, 100ms);  // first: the line wants to know why, but the command works on meanwhile
    run_line(kill_at);
  }
}

/// Waits so long, at most, to be told why.
void supervision::note(deadline::distance is, boot_clock::duration at_most) {
  if (is == deadline::distance::over && std::exchange(loss_told_, true)) return;
  const deadline::reason r = of_.due.why(is, at_most);
  why_ = r.words;
  if (of_.lost.signal != 0) stopped_for_ = is == deadline::distance::near && r.max_hold ? "max_hold" : "lost";
  if (is == deadline::distance::over) {
    of_.tell.lost(of_.held.fence(), why_);
  } else {
    of_.tell.ending(why_, r.max_hold);
  }
}

/// The line has half of the time that is left; then the command is asked to stop, whatever became of the line.
void supervision::run_line(instant kill_at) {
  stopping_ = true;
  environment more = of_.variables;
  std::erase_if(more, [&](const auto& each) { return each.first == of_.lost_why; });
  more.emplace_back(of_.lost_why, why_);
  try {
    of_.command.run_beside(of_.lost.line, more, of_.signals.before());
    kill_at_ = kill_at;
    next_ = boot_clock::now() + (kill_at - boot_clock::now()) / 2;
  } catch (const std::system_error& e) {
    of_.tell.no_line(e.what());
    stop(of_.lost.signal, kill_at);
  }
}

void supervision::stop(int number, instant kill_at) {
  stopping_ = true;
  if (!of_.command.signal_all(number) && !std::exchange(not_allowed_told_, true)) of_.tell.not_allowed();
  if (number != SIGKILL && number != SIGCONT && number != SIGSTOP) {
    of_.command.signal_all(SIGCONT);  // a stopped one must run to hear it
  }
  next_ = kill_at;
}

bool supervision::stopped_by_terminal() const noexcept {
  const int by = of_.command.stop_signal();
  return of_.tty.there() && (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU);
}

/// The command stands still, and the shell wants to see us do so, too; unless it only wants the foreground, and we
/// have it by now.
void supervision::suspend(bool wants_foreground) {
  if (suspended_) return;
  of_.tty.take_back();
  if (wants_foreground && of_.tty.ours()) return resume();
  suspended_ = true;
  wants_foreground_ = wants_foreground;
  of_.user_sees.stop();
}

void supervision::resume() {
  of_.tty.give_to(of_.command.pid());
  of_.command.signal_group(SIGCONT);
}

}  // namespace holdfast::cli
