#include "process/signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

namespace {

constexpr int that_end_us[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

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
  for (const int number : that_end_us) {
    struct sigaction is{};
    if (::sigaction(number, nullptr, &is) == 0 && is.sa_handler == SIG_IGN) ::sigaddset(&ignored_, number);
  }
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, a child goes without a word
  ::sigdelset(&all, SIGTTOU);
  ::sigdelset(&all, SIGPIPE);
  fd_ = descriptor(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

void caught_signals::stop_here() const noexcept {
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
    if (number == SIGTSTP && stops_) stop_here();
    if (ends_us(number) && !ignored(number)) ends_us_ = number;
  }
  return ends_us_;
}

bool ends_us(int number) noexcept {
  for (const int each : that_end_us) {
    if (number == each) return true;
  }
  return false;
}

void die_of(int number) noexcept {
  std::signal(number, SIG_DFL);
  const sigset_t it = only(number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &it, nullptr);
}

}  // namespace holdfast::cli
