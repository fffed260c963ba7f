#include "process/front_link.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

front_link make_front_link() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {descriptor(ends[0]), descriptor(ends[1])};
}

void send(const descriptor& to, front_message::kind what, int number) noexcept {
  const front_message m{what, number};
  [[maybe_unused]] const ssize_t sent = ::send(to.get(), &m, sizeof m, MSG_NOSIGNAL);
}

received receive(const descriptor& from, front_message& into) noexcept {
  const ssize_t n = ::recv(from.get(), &into, sizeof into, MSG_DONTWAIT);
  if (n == sizeof into) return received::message;
  return n < 0 && (errno == EAGAIN || errno == EINTR) ? received::nothing : received::end;
}

}  // namespace holdfast::cli
