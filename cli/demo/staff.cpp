#include "demo/staff.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace holdfast::cli {

staff::~staff() {
  for (const pid_t each : all_) {
    if (each > 0) ::kill(each, SIGKILL);
  }
  for (const pid_t each : all_) {
    if (each > 0) ::waitpid(each, nullptr, 0);
  }
}

void staff::hire(const std::function<int()>& work) {
  std::fflush(stdout);
  const pid_t boss = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot start a process");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGHUP, SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
    ::_exit(::getppid() == boss ? work() : 1);
  }
  all_.push_back(pid);
}

void staff::kill(std::size_t number, int signal) const { ::kill(all_.at(number), signal); }

bool staff::all_ended() {
  for (pid_t& each : all_) {
    if (each > 0 && ::waitpid(each, nullptr, WNOHANG) == each) each = 0;
  }
  return std::all_of(all_.begin(), all_.end(), [](pid_t each) { return each == 0; });
}

}  // namespace holdfast::cli
