#include "chaos/event_channel.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace holdfast::chaos {

event_channel::event_channel(const std::string& coordinator)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  std::memcpy(there.sun_path, coordinator.data(), std::min(coordinator.size(), sizeof there.sun_path - 1));
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
    throw std::runtime_error("cannot connect to " + coordinator);
  }
}

void event_channel::tell(const event& e) {
  const std::scoped_lock mine(mutex_);
  if (::send(socket_, &e, sizeof e, MSG_NOSIGNAL) != sizeof e) std::_Exit(0);  // the run is over
}

reply event_channel::ask(const event& e) {
  const std::scoped_lock mine(mutex_);
  reply r;
  if (::send(socket_, &e, sizeof e, MSG_NOSIGNAL) != sizeof e || ::recv(socket_, &r, sizeof r, 0) != sizeof r) {
    std::_Exit(0);
  }
  return r;
}

}  // namespace holdfast::chaos
