#include "process/forwarding.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "process/children.hpp"
#include "process/spin.hpp"

namespace holdfast::cli {

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

}  // namespace holdfast::cli
