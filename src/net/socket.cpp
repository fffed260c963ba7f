#include "net/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "net/ready.hpp"
#include "runtime/clock.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/fork.hpp"

namespace holdfast::net {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

template <class T>
void set(int fd, int level, int name, const T& to) noexcept {
  ::setsockopt(fd, level, name, &to, sizeof to);  // an option that the kernel does not know is skipped
}

/// A socket that is closed in forked children. A child that kept it open would keep the connection alive after the
/// death of this process.
class socket_stream final : public stream {
 public:
  explicit socket_stream(int family)
      : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket") {}

  std::size_t receive(std::span<char> into) override { return receive(into, MSG_DONTWAIT); }
  std::size_t receive_soon(std::span<char> into) override { return receive(into, 0); }

  std::size_t send(std::string_view bytes) override {
    for (;;) {
      const ssize_t n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
      if (errno != EINTR) throw broken("the connection broke: " + words_of(errno));
    }
  }

  [[nodiscard]] int fd() const noexcept override { return socket_.get(); }

  void connect(const address& to, const limit& l) const {
    const auto* where = reinterpret_cast<const sockaddr*>(&to.where);
    if (::connect(fd(), where, to.size) != 0) {
      if (errno != EINPROGRESS) throw broken(words_of(errno));
      const readiness why = wait_writable(fd(), l);
      if (why == readiness::stopped) throw broken("asked to stop");
      if (why == readiness::late) throw broken::late("no answer");
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) throw broken(words_of(error));
    }
    int blocking = 0;  // from now on each call says by its flags whether it may wait
    ::ioctl(fd(), FIONBIO, &blocking);
  }

  void tune(milliseconds silence) const noexcept {
    set(fd(), SOL_SOCKET, SO_RCVTIMEO, timeval{0, 5'000});  // receive_soon() waits for this long
    set(fd(), IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd(), IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(fd(), IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(fd(), IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<unsigned>(std::max<milliseconds>(silence, 1s).count()));
  }

 private:
  std::size_t receive(std::span<char> into, int flags) const {
    for (;;) {
      const ssize_t n = ::recv(fd(), into.data(), into.size(), flags);
      if (n > 0) return static_cast<std::size_t>(n);
      if (n == 0) throw broken("the server closed the connection");
      if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
      if (errno != EINTR) throw broken("the connection broke: " + words_of(errno));
    }
  }
  const runtime::descriptor socket_;
  const runtime::closed_in_children private_{socket_.get()};
};

}  // namespace

std::unique_ptr<stream> connect(const std::vector<address>& to, milliseconds silence, const limit& l) {
  broken why("the host has no address");
  for (std::size_t n = 0; n < to.size(); ++n) {
    const runtime::instant now = boot_clock::now();
    const runtime::span left = l.at() == runtime::never ? runtime::span(1h) : l.at() - now;
    const limit share(runtime::later(now, left / static_cast<std::int64_t>(to.size() - n)), l.stop());
    try {
      auto made = std::make_unique<socket_stream>(to[n].where.ss_family);
      made->connect(to[n], share);
      made->tune(silence);
      return made;
    } catch (const broken& e) {
      if (!why.is_late()) why = e;  // a timeout is the more useful error: that address may exist
    }
  }
  throw why;
}

}  // namespace holdfast::net
