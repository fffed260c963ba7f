#include "process/signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

namespace {

constexpr int terminating[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

sigset_t only(int number) noexcept {
  sigset_t it;
  ::sigemptyset(&it);
  ::sigaddset(&it, number);
  return it;
}

}  // namespace

caught_signals::caught_signals() {
  sigset_t all;
  ::sigemptyset(&all);
  for (const int number :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGCHLD, SIGTTOU, SIGPIPE}) {
    ::sigaddset(&all, number);
  }
  ::sigprocmask(SIG_BLOCK, &all, &before_);
  ::sigemptyset(&ignored_);
  for (const int number : terminating) {
    struct sigaction is{};
    if (::sigaction(number, nullptr, &is) == 0 && is.sa_handler == SIG_IGN) ::sigaddset(&ignored_, number);
  }
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, children are reaped without notice
  ::sigdelset(&all, SIGTTOU);
  ::sigdelset(&all, SIGPIPE);
  fd_ = descriptor(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

void caught_signals::stop_process() const noexcept {
  const sigset_t it = only(SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &it, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &it, nullptr);
}

int caught_signals::next() const noexcept {
  signalfd_siginfo info{};
  return ::read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

int caught_signals::asked_to_stop() noexcept {
  while (const int number = next()) {
    if (number == SIGTSTP && stops_) stop_process();
    if (is_terminating(number) && !ignored(number)) terminated_by_ = number;
  }
  return terminated_by_;
}

bool is_terminating(int number) noexcept {
  for (const int each : terminating) {
    if (number == each) return true;
  }
  return false;
}

void die_by_signal(int number) noexcept {
  std::signal(number, SIG_DFL);
  const sigset_t it = only(number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &it, nullptr);
}

}  // namespace holdfast::cli
