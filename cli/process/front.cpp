#include "process/front.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include "process/child.hpp"

namespace holdfast::cli {

front_link make_front_link() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {descriptor(ends[0]), descriptor(ends[1])};
}

void send(const descriptor& to, front_message::kind what, int number) noexcept {
  const front_message m{what, number};
  [[maybe_unused]] const ssize_t sent = ::send(to.get(), &m, sizeof m, MSG_NOSIGNAL);
}

received receive(const descriptor& from, front_message& into) noexcept {
  const ssize_t n = ::recv(from.get(), &into, sizeof into, MSG_DONTWAIT);
  if (n == sizeof into) return received::message;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? received::nothing : received::end;
}

int forwarding::go(const std::function<int(int)>& killed) {
  while (!worker_ended()) {
    pollfd both[] = {{signals_.fd(), POLLIN, 0}, {link_.get(), POLLIN, 0}};
    ::poll(both, 2, -1);
    while (const int number = signals_.next()) forward(number);  // before any answer: a start would overtake it
    answer_all();
  }
  answer_all();
  if (WIFSIGNALED(status_)) {
    end_all();
    if (command_ != 0) tty_.take_back_from(command_);
    return killed(WTERMSIG(status_));
  }
  if (for_the_job_) ::kill(0, died_of_);
  if (died_of_ != 0) die_of(died_of_);
  return WEXITSTATUS(status_);
}

bool forwarding::worker_ended() {
  if (!ended_) ended_ = ::waitpid(worker_, &status_, WNOHANG) == worker_;
  return ended_;
}

void forwarding::forward(int number) const {
  if (number == SIGTSTP && !running_) {
    signals_.stop_here();
  } else if (number != SIGCHLD) {
    ::kill(worker_, number);
  }
}

void forwarding::answer_all() {
  front_message m;
  received what = received::nothing;
  while ((what = receive(link_, m)) == received::message) answer(m);
  // It has said its last word, and ends.
  if (what == received::end && !ended_) ended_ = ::waitpid(worker_, &status_, 0) == worker_;
}

void forwarding::answer(const front_message& m) {
  switch (m.what) {
    case front_message::kind::may_start:
      command_ = m.number;
      running_ = true;
      return send(link_, front_message::kind::start);
    case front_message::kind::command_ended:
      command_ = 0;
      running_ = false;
      return;
    case front_message::kind::stop: return stop();
    case front_message::kind::die_with_the_job: for_the_job_ = true; [[fallthrough]];
    case front_message::kind::die: died_of_ = m.number; return;
    case front_message::kind::start:
    case front_message::kind::continued:
    case front_message::kind::not_stopped: return;  // our own words
  }
}

void forwarding::stop() const {
  signals_.stop_here();
  bool continued = false;
  while (const int number = signals_.next()) {
    if (number == SIGCONT) continued = true;  // of the shell; the worker sends one to the command
    if (number != SIGCONT && number != SIGTSTP) forward(number);
  }
  send(link_, continued ? front_message::kind::continued : front_message::kind::not_stopped);
}

/// All that has come of the worker is ours now, or soon will be.
void forwarding::end_all() const {
  bool group_there = command_ != 0;
  for (spin between;; between.pause()) {
    if (group_there) group_there = ::kill(-command_, SIGKILL) == 0 || errno != ESRCH;  // gone: its number is another's
    try {
      std::vector<pid_t> left = children_of_this_process();
      std::erase_if(left, [&](pid_t each) { return std::ranges::find(not_ours_, each) != not_ours_.end(); });
      if (!group_there && left.empty()) return;
      for (const pid_t each : left) {
        ::kill(each, SIGKILL);
        ::waitpid(each, nullptr, WNOHANG);
      }
    } catch (const std::exception&) {  // they cannot be seen now, so they are not gone
    }
  }
}

namespace {

/// It gets SIGTERM when the front goes: while it waits, that makes it leave. No key of a terminal reaches it.
void become_worker(pid_t of) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != of) ::_exit(0);  // it was gone before we could ask
  ::prctl(PR_SET_NAME, "hf-worker");  // whoever kills all that is called holdfast does not kill both at once
}

}  // namespace

bool front::may_start(pid_t command, caught_signals& signals) {
  send(link_, front_message::kind::may_start, command);
  for (front_message m;;) {
    const received what = receive(link_, m);
    if (what == received::message) return signals.asked_to_stop() == 0;
    gone_ = what == received::end;
    if (gone_ || signals.asked_to_stop() != 0) return false;
    pollfd both[] = {{signals.fd(), POLLIN, 0}, {fd(), POLLIN, 0}};
    ::poll(both, 2, -1);
  }
}

void front::command_ended() { send(link_, front_message::kind::command_ended); }
void front::stop() { send(link_, front_message::kind::stop); }

front::answer front::hear() {
  front_message m;
  const received what = receive(link_, m);
  if (what == received::end) gone_ = true;
  if (what != received::message) return answer::none;
  return m.what == front_message::kind::continued ? answer::continued : answer::not_stopped;
}

void front::end(const worker_end& how) {
  if (how.died_of == 0) return;
  using kind = front_message::kind;
  send(link_, how.key_was_for_the_job ? kind::die_with_the_job : kind::die, how.died_of);
}

int behind_a_front(caught_signals& signals, terminal& tty, const std::function<worker_end(front&)>& work,
                   const std::function<int(int)>& killed) {
  front_link link = make_front_link();
  std::vector<pid_t> not_ours = children_of_this_process();  // a shell that became us may have had some
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t us = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (worker != 0) {
    ::setpgid(worker, worker);  // also here: whichever of us is first
    link.of_worker.reset();
    return forwarding(signals, tty, worker, std::move(link.of_front), std::move(not_ours)).go(killed);
  }
  link.of_front.reset();
  become_worker(us);
  signals.leave_stopping_to_the_front();
  front user_sees(std::move(link.of_worker));
  const worker_end how = work(user_sees);
  user_sees.end(how);
  return how.code;
}

}  // namespace holdfast::cli
