#include "process/supervisor.hpp"

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

process_link make_process_link() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {descriptor(ends[0]), descriptor(ends[1])};
}

void send(const descriptor& to, process_message::kind what, int number) noexcept {
  const process_message m{what, number};
  [[maybe_unused]] const ssize_t sent = ::send(to.get(), &m, sizeof m, MSG_NOSIGNAL);
}

received receive(const descriptor& from, process_message& into) noexcept {
  const ssize_t n = ::recv(from.get(), &into, sizeof into, MSG_DONTWAIT);
  if (n == sizeof into) return received::message;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? received::nothing : received::end;
}

int supervisor::go(const std::function<int(int)>& killed) {
  while (!worker_ended()) {
    pollfd both[] = {{signals_.fd(), POLLIN, 0}, {link_.get(), POLLIN, 0}};
    ::poll(both, 2, -1);
    while (const int number = signals_.next())
      forward(number);  // before the messages: a reply to may_start must not overtake a signal
    answer_all();
  }
  answer_all();
  if (WIFSIGNALED(status_)) {
    end_all();
    if (command_ != 0) tty_.take_back_from(command_);
    return killed(WTERMSIG(status_));
  }
  if (for_the_job_) ::kill(0, died_of_);
  if (died_of_ != 0) die_by_signal(died_of_);
  return WEXITSTATUS(status_);
}

bool supervisor::worker_ended() {
  if (!ended_) ended_ = ::waitpid(worker_, &status_, WNOHANG) == worker_;
  return ended_;
}

void supervisor::forward(int number) const {
  if (number == SIGTSTP && !running_) {
    signals_.stop_process();
  } else if (number != SIGCHLD) {
    ::kill(worker_, number);
  }
}

void supervisor::answer_all() {
  process_message m;
  received what = received::nothing;
  while ((what = receive(link_, m)) == received::message) answer(m);
  // The worker closes its end just before it exits.
  if (what == received::end && !ended_) ended_ = ::waitpid(worker_, &status_, 0) == worker_;
}

void supervisor::answer(const process_message& m) {
  switch (m.what) {
    case process_message::kind::may_start:
      command_ = m.number;
      running_ = true;
      return send(link_, process_message::kind::start);
    case process_message::kind::command_ended:
      command_ = 0;
      running_ = false;
      return;
    case process_message::kind::stop: return stop();
    case process_message::kind::die_with_the_job: for_the_job_ = true; [[fallthrough]];
    case process_message::kind::die: died_of_ = m.number; return;
    case process_message::kind::start:
    case process_message::kind::continued:
    case process_message::kind::not_stopped: return;  // only sent by the supervisor
  }
}

void supervisor::stop() const {
  signals_.stop_process();
  bool continued = false;
  while (const int number = signals_.next()) {
    if (number == SIGCONT) continued = true;  // sent by the shell; the worker sends its own to the command
    if (number != SIGCONT && number != SIGTSTP) forward(number);
  }
  send(link_, continued ? process_message::kind::continued : process_message::kind::not_stopped);
}

/// Kills the processes that the dead worker left. We are the subreaper, so all of them become our children.
void supervisor::end_all() const {
  bool group_there = command_ != 0;
  for (backoff between;; between.pause()) {
    if (group_there)
      group_there = ::kill(-command_, SIGKILL) == 0 || errno != ESRCH;  // ESRCH: the group id may be reused
    try {
      std::vector<pid_t> left = children_of_this_process();
      std::erase_if(left, [&](pid_t each) { return std::ranges::find(not_ours_, each) != not_ours_.end(); });
      if (!group_there && left.empty()) return;
      for (const pid_t each : left) {
        ::kill(each, SIGKILL);
        ::waitpid(each, nullptr, WNOHANG);
      }
    } catch (const std::exception&) {  // what cannot be listed is not gone
    }
  }
}

namespace {

/// The worker gets SIGTERM when the supervisor dies, which makes it leave the queue if it is waiting. Keys of the
/// terminal do not reach its process group.
void become_worker(pid_t of) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != of) ::_exit(0);  // the parent exited before prctl() took effect
  ::prctl(PR_SET_NAME, "hf-worker");  // so that killall holdfast does not kill both processes at once
}

}  // namespace

bool supervisor_proxy::may_start(pid_t command, caught_signals& signals) {
  send(link_, process_message::kind::may_start, command);
  for (process_message m;;) {
    const received what = receive(link_, m);
    if (what == received::message) return signals.asked_to_stop() == 0;
    gone_ = what == received::end;
    if (gone_ || signals.asked_to_stop() != 0) return false;
    pollfd both[] = {{signals.fd(), POLLIN, 0}, {fd(), POLLIN, 0}};
    ::poll(both, 2, -1);
  }
}

void supervisor_proxy::command_ended() { send(link_, process_message::kind::command_ended); }
void supervisor_proxy::stop() { send(link_, process_message::kind::stop); }

supervisor_proxy::answer supervisor_proxy::hear() {
  process_message m;
  const received what = receive(link_, m);
  if (what == received::end) gone_ = true;
  if (what != received::message) return answer::none;
  return m.what == process_message::kind::continued ? answer::continued : answer::not_stopped;
}

void supervisor_proxy::end(const worker_result& how) {
  if (how.died_of == 0) return;
  using kind = process_message::kind;
  send(link_, how.key_was_for_the_job ? kind::die_with_the_job : kind::die, how.died_of);
}

int run_supervised(caught_signals& signals, terminal& tty, const std::function<worker_result(supervisor_proxy&)>& work,
                   const std::function<int(int)>& killed) {
  process_link link = make_process_link();
  std::vector<pid_t> not_ours =
      children_of_this_process();  // inherited from a shell that replaced itself with us by exec
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t us = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (worker != 0) {
    ::setpgid(worker, worker);  // done in both processes, so that it is set whichever runs first
    link.of_worker.reset();
    return supervisor(signals, tty, worker, std::move(link.of_supervisor), std::move(not_ours)).go(killed);
  }
  link.of_supervisor.reset();
  become_worker(us);
  signals.leave_stopping_to_supervisor();
  supervisor_proxy supervisor(std::move(link.of_worker));
  const worker_result how = work(supervisor);
  supervisor.end(how);
  return how.code;
}

}  // namespace holdfast::cli
