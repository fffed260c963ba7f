#include "directory/sessions.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

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

sessions::sessions(const folder& in) : fd_(in.open_file("sessions")) {}

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

}  // namespace holdfast::directory
