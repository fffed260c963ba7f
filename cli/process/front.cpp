#include "process/front.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include "process/children.hpp"
#include "process/forwarding.hpp"
#include "process/front_link.hpp"

namespace holdfast::cli {

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
