#include "process/process_end.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace holdfast::cli {

// By their numbers: the header of Debian 12's C library declares them for C only.

process_end::process_end(pid_t pid) : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
  const int why = fd_.get() < 0 ? errno : over() ? ESRCH : 0;  // over: nobody has reaped it yet
  if (why != 0) throw std::system_error(why, std::generic_category(), "process " + std::to_string(pid));
}

bool process_end::over() noexcept {
  pollfd it{fd_.get(), POLLIN, 0};
  return ::poll(&it, 1, 0) > 0;
}

int process_end::signal(int number) const noexcept {
  return ::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) == 0 ? 0 : errno;
}

}  // namespace holdfast::cli
