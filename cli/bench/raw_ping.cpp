#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "bench/raw.hpp"
#include "process/descriptor.hpp"

namespace holdfast::cli {

namespace {

/// What stands before that; all of it if it is not there.
std::string_view before(std::string_view text, char c) { return text.substr(0, text.find(c)); }

descriptor connected(int family, const sockaddr* to, socklen_t size) {
  descriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return fd.get() >= 0 && ::connect(fd.get(), to, size) == 0 ? std::move(fd) : descriptor();
}

descriptor to_socket(std::string_view path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return {};
  std::memcpy(at.sun_path, path.data(), path.size());
  return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&at), sizeof at);
}

/// "host", "host:port", "[::1]:port", perhaps with a user in front.
descriptor to_host(std::string_view authority) {
  authority.remove_prefix(authority.rfind('@') + 1);
  const bool bracketed = authority.starts_with('[');
  std::string host(bracketed ? before(authority.substr(1), ']') : before(authority, ':'));
  authority.remove_prefix(std::min(authority.size(), host.size() + (bracketed ? 2 : 0)));
  const std::string port(authority.starts_with(':') ? authority.substr(1) : "6379");
  if (host.empty()) host = "127.0.0.1";
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    descriptor fd = connected(a->ai_family, a->ai_addr, a->ai_addrlen);
    if (fd.get() < 0) continue;
    const int at_once = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return fd;
  }
  return {};
}

descriptor to_server(std::string_view url) {
  for (const std::string_view scheme : {"redis://", "valkey://"}) {
    if (url.starts_with(scheme)) return to_host(before(before(url.substr(scheme.size()), '?'), '/'));
  }
  for (const std::string_view scheme : {"redis+unix://", "valkey+unix://"}) {
    if (url.starts_with(scheme)) return to_socket(before(url.substr(scheme.size()), '?'));
  }
  return {};
}

}  // namespace

raw_round_trip bare_ping(const std::string& url) {
  const auto fd = std::make_shared<descriptor>(to_server(url));
  if (fd->get() < 0) throw std::runtime_error("no bare connection");
  return {"PING on a bare connection", [fd] {
            constexpr std::string_view ping = "PING\r\n";
            char answer[256];
            ssize_t n = ::send(fd->get(), ping.data(), ping.size(), MSG_NOSIGNAL);
            if (n == static_cast<ssize_t>(ping.size())) n = ::recv(fd->get(), answer, sizeof answer, 0);
            if (n <= 0) throw std::runtime_error("the bare connection to the store is gone");
          }};
}

}  // namespace holdfast::cli
