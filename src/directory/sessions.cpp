#include "directory/sessions.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "runtime/fork.hpp"

namespace holdfast::directory {

namespace {

struct flock byte(short type, session_id at) noexcept {
  struct flock wanted{};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = at;
  wanted.l_len = 1;
  return wanted;
}

bool try_lock(int fd, session_id at) {
  struct flock wanted = byte(F_WRLCK, at);
  if (::fcntl(fd, F_OFD_SETLK, &wanted) == 0) return true;
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  throw std::system_error(errno, std::generic_category(), "cannot lock a byte of the sessions file");
}

}  // namespace

sessions::sessions(const folder& in) : fd_(in.open_file("sessions")), identity_(in.file("sessions"), fd_.get()) {
  runtime::close_in_children(fd_.get());  // a child of ours would go on to live for us
}

sessions::~sessions() { runtime::forget_in_children(fd_.get()); }

bool sessions::begin(session_id id) {
  if (!try_lock(fd_.get(), id)) return false;
  own_ = id;
  return true;
}

bool sessions::alive(session_id id) const {
  if (id == own_) return true;
  struct flock asked = byte(F_WRLCK, id);
  if (::fcntl(fd_.get(), F_OFD_GETLK, &asked) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot look at a byte of the sessions file");
  }
  return asked.l_type != F_UNLCK;
}

// A write takes some tens of microseconds, so whoever is in our way is out of it soon: look again at once for about as
// long, then ever less often. F_OFD_SETLKW would wake a little earlier, but knows no limit: a process that was stopped
// while it wrote would stop us too.
bool sessions::lock_writer(instant until) {
  using namespace std::chrono_literals;
  for (int tries = 0; !try_lock(fd_.get(), 0); ++tries) {
    if (tries < 50) {
      ::sched_yield();
      continue;
    }
    const instant now = boot_clock::now();
    if (now >= until) return false;
    const auto pause = std::min<std::chrono::nanoseconds>({50us * (1 + (tries - 50) / 20), 2ms, until - now});
    const timespec rest{0, static_cast<long>(pause.count())};
    ::nanosleep(&rest, nullptr);
  }
  const std::int64_t pid = ::getpid();  // the kernel does not tell whose such a lock is
  [[maybe_unused]] const ssize_t written = ::pwrite(fd_.get(), &pid, sizeof pid, 0);
  return true;
}

std::int64_t sessions::last_writer() const noexcept {
  std::int64_t pid = 0;
  return ::pread(fd_.get(), &pid, sizeof pid, 0) == sizeof pid ? pid : 0;
}

void sessions::unlock_writer() noexcept {
  struct flock free = byte(F_UNLCK, 0);
  ::fcntl(fd_.get(), F_OFD_SETLK, &free);
}

}  // namespace holdfast::directory
