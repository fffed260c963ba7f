#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/socket.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// A server that greets and subscribes like Redis and answers every other command with endless messages, until the
/// client disconnects.
class flooding_server {
 public:
  flooding_server() : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const net::address a = net::unix_address(socket_);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&a.where), a.size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    accepting_ = std::thread([this] { accept_all(); });
  }
  flooding_server(const flooding_server&) = delete;
  flooding_server& operator=(const flooding_server&) = delete;
  ~flooding_server() {
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& each : serving_) each.join();
    ::close(listener_);
  }

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }
  [[nodiscard]] bool floods() const noexcept { return floods_; }
  [[nodiscard]] int connections_gone() const noexcept { return gone_; }

 private:
  void accept_all() {
    for (int fd = ::accept(listener_, nullptr, nullptr); fd >= 0; fd = ::accept(listener_, nullptr, nullptr)) {
      const timeval soon{0, 20'000};  // to check whether the test has ended
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
      ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
      const int ahead = 32 * 1024 * 1024;  // the client never reads all that was sent
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &ahead, sizeof ahead);
      serving_.emplace_back([this, fd] {
        serve(fd);
        ::close(fd);
        ++gone_;
      });
    }
  }

  /// Returns false if the client has disconnected or the test has ended.
  bool send(int fd, std::string_view bytes) {
    while (!bytes.empty() && !ending_) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return !ending_;
  }

  void serve(int fd) {
    char buffer[4096];
    while (!ending_) {
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (n < 0) continue;
      const std::string_view asked(buffer, static_cast<std::size_t>(n));
      const bool greets = asked.find("HELLO") != std::string_view::npos;
      const bool subscribes = asked.find("SSUBSCRIBE") != std::string_view::npos;
      if (!greets && !subscribes) return pour(fd);
      if (!send(fd, greets ? "%1\r\n+mode\r\n+standalone\r\n" : ">3\r\n+ssubscribe\r\n+c\r\n:1\r\n")) return;
    }
  }

  void pour(int fd) {
    std::string many;
    while (many.size() < 256 * 1024) {
      many += ">3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$4\r\njunk\r\n";
    }
    floods_ = true;
    while (send(fd, many)) {
    }
  }

  temporary_folder folder_;
  const std::string socket_ = folder_.file("s");
  const int listener_;
  std::atomic<bool> ending_{false}, floods_{false};
  std::atomic<int> gone_{0};
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace holdfast::test
