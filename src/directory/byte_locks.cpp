#include "directory/byte_locks.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

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
  struct flock asked = range(F_WRLCK, at, bytes);
  if (::fcntl(fd(), F_OFD_GETLK, &asked) == 0) return asked.l_type != F_UNLCK;
  throw std::system_error(errno, std::generic_category(), "cannot look at a byte of " + path_);
}

}  // namespace holdfast::directory
