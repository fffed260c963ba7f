#include "directory/sessions.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace holdfast::directory {

namespace {

struct flock range(short type, std::int64_t at, std::int64_t bytes) noexcept {
  struct flock wanted{};
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = at;
  wanted.l_len = bytes;
  return wanted;
}

}  // namespace

byte_locks::byte_locks(const folder& in, const std::string& name) : path_(in.file(name)), fd_(in.open_file(name)) {}

bool byte_locks::try_lock(std::int64_t at) {
  struct flock wanted = range(F_WRLCK, at, 1);
  if (::fcntl(fd(), F_OFD_SETLK, &wanted) == 0) return true;
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  throw std::system_error(errno, std::generic_category(), "cannot lock a byte of " + path_);
}

void byte_locks::unlock(std::int64_t at) noexcept {
  struct flock free = range(F_UNLCK, at, 1);
  ::fcntl(fd(), F_OFD_SETLK, &free);
}

identity byte_locks::file() const {
  struct stat is{};
  if (::fstat(fd(), &is) == 0) return identity(is);
  throw std::system_error(errno, std::generic_category(), "cannot examine " + path_);
}

bool byte_locks::is_locked(std::int64_t at, std::int64_t bytes) const {
  struct flock found = range(F_WRLCK, at, bytes);
  if (::fcntl(fd(), F_OFD_GETLK, &found) == 0) return found.l_type != F_UNLCK;
  throw std::system_error(errno, std::generic_category(), "cannot read the locks of " + path_);
}

std::int64_t own_pid_namespace() {
  struct stat is{};
  return ::stat("/proc/self/ns/pid", &is) == 0 ? static_cast<std::int64_t>(is.st_ino) : 0;
}

pidfd_watch::pidfd_watch(runtime::loop& l, const sessions& alive, std::int64_t pid_namespace,
                         const std::vector<process>& processes, runtime::signal& ended)
    : loop_(l), sessions_(alive) {
  watched_.reserve(processes.size());
  for (const process& each : processes) {
    if (each.session == sessions_.own()) continue;
    if (each.pid_namespace != pid_namespace || !watch(each, ended)) unwatched_.push_back(each.session);
  }
}

pidfd_watch::~pidfd_watch() {
  for (const runtime::descriptor& each : watched_) loop_.unwatch(each.get());
}

bool pidfd_watch::watch(const process& p, runtime::signal& ended) noexcept {
  try {
    runtime::descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(p.pid), 0)));
    // The pid belongs to this session only if the session is alive now; otherwise another process may have it.
    if (!sessions_.alive(p.session)) {
      ended.set();
      return true;
    }
    if (pidfd.get() < 0) return false;
    loop_.watch(pidfd.get(), [&ended] { ended.set(); }, runtime::loop::interest::readable_once);
    watched_.push_back(std::move(pidfd));  // does not throw: the capacity is reserved
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool pidfd_watch::any_unwatched_ended() const noexcept {
  try {
    return std::ranges::any_of(unwatched_, [&](session_id each) { return !sessions_.alive(each); });
  } catch (const std::exception&) {
    return true;  // the caller polls the store next, which reports the error
  }
}

}  // namespace holdfast::directory
