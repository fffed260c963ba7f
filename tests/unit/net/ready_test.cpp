#include "net/ready.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stop_token>
#include <thread>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

/// Two connected sockets.
class pair_of_sockets {
 public:
  pair_of_sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both_), 0); }
  pair_of_sockets(const pair_of_sockets&) = delete;
  pair_of_sockets& operator=(const pair_of_sockets&) = delete;
  ~pair_of_sockets() {
    ::close(both_[0]);
    close_peer();
  }
  [[nodiscard]] int fd() const noexcept { return both_[0]; }
  void peer_says(std::string_view text) const {
    EXPECT_EQ(::send(both_[1], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void close_peer() noexcept {
    if (both_[1] >= 0) ::close(both_[1]);
    both_[1] = -1;
  }
  /// Writes until the buffer is full.
  void fill() const {
    const std::string text(4096, 'x');
    while (::send(both_[0], text.data(), text.size(), MSG_NOSIGNAL) > 0) {
    }
  }

 private:
  int both_[2] = {-1, -1};
};

TEST(ready, when_there_is_something_to_read) {
  const pair_of_sockets s;
  s.peer_says("x");
  EXPECT_EQ(wait_readable(s.fd(), within(1min)), readiness::ready);
}

TEST(ready, when_there_is_room_to_write) {
  const pair_of_sockets s;
  EXPECT_EQ(wait_writable(s.fd(), within(1min)), readiness::ready);
  s.fill();
  EXPECT_EQ(wait_writable(s.fd(), within(0s)), readiness::late);
}

TEST(ready, when_the_peer_has_closed) {
  pair_of_sockets s;
  s.close_peer();
  EXPECT_EQ(wait_readable(s.fd(), within(1min)), readiness::ready);
  EXPECT_EQ(wait_writable(s.fd(), within(1min)), readiness::ready);
}

TEST(ready, times_out_at_the_limit_and_not_before) {
  const pair_of_sockets s;
  const auto before = boot_clock::now();
  EXPECT_EQ(wait_readable(s.fd(), within(5ms)), readiness::late);
  EXPECT_GE(boot_clock::now(), before + 5ms);
  EXPECT_EQ(wait_readable(s.fd(), within(-1s)), readiness::late);
}

TEST(ready, is_stopped_by_the_token) {
  const pair_of_sockets s;
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(wait_readable(s.fd(), limit(boot_clock::now() + 1min, before.get_token())), readiness::stopped);
  std::stop_source during;
  std::jthread other([&] { during.request_stop(); });
  EXPECT_EQ(wait_readable(s.fd(), limit(boot_clock::now() + 1min, during.get_token())), readiness::stopped);
}

}  // namespace
}  // namespace holdfast::net
