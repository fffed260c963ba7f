#include "support/fault_proxy.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace holdfast::test {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t both[] = {0, 1};  // ways

sockaddr_un address_of(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::memcpy(a.sun_path, path.data(), std::min(path.size(), sizeof a.sun_path - 1));
  return a;
}

}  // namespace

fault_proxy::fault_proxy(std::string server) : server_(std::move(server)) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_un here = address_of(socket_);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    throw std::runtime_error("no proxy at " + socket_);
  }
  begin();
}

fault_proxy::fault_proxy(std::string server, int port) : server_(std::move(server)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  here.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    ::close(listener_);
    throw std::runtime_error("no proxy at port " + std::to_string(port));
  }
  begin();
}

void fault_proxy::begin() {
  wakeup_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (::listen(listener_, 128) != 0) throw std::runtime_error("the proxy cannot listen");
  thread_ = std::thread([this] { run(); });
}

fault_proxy::~fault_proxy() {
  ending_ = true;
  wake_up();
  thread_.join();
  state_.with([](state& s) {
    for (const auto& p : s.pairs) {
      ::close(p->client);
      ::close(p->server);
    }
  });
  ::close(listener_);
  ::close(wakeup_);
}

void fault_proxy::wake_up() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wakeup_, &one, sizeof one);
}

void fault_proxy::treat(way w, treatment how) {
  state_.with([&](state& s) { s.now[index(w)] = how; });
  wake_up();
}

void fault_proxy::delay(way w, std::chrono::milliseconds by) {
  state_.with([&](state& s) { s.late[index(w)] = by; });
}

void fault_proxy::cut_after(way w, std::size_t bytes) {
  state_.with([&](state& s) { s.cut_after[index(w)] = bytes; });
}

void fault_proxy::mute_those_that_are_open() {
  state_.with([](state& s) {
    for (const auto& p : s.pairs) p->mute = true;
  });
}

void fault_proxy::mute_new_ones() {
  state_.with([](state& s) { s.mutes_new_ones = true; });
}

void fault_proxy::reset() {
  state_.with([](state& s) {
    for (const auto& p : s.pairs) p->over = true;
  });
  wake_up();
}

void fault_proxy::refuse(bool on) {
  state_.with([&](state& s) { s.refuses = on; });
}

void fault_proxy::heal() {
  state_.with([](state& s) {
    for (const std::size_t at : both) {
      s.now[at] = treatment::pass;
      s.late[at] = {};
      s.cut_after[at] = ~std::size_t{0};
      for (const auto& p : s.pairs) p->over = p->over || p->ways[at].lost_something;
    }
    s.refuses = false;
    s.mutes_new_ones = false;
  });
  wake_up();
}

std::size_t fault_proxy::connections() const {
  return state_.with([](const state& s) { return s.pairs.size(); });
}

void fault_proxy::run() {
  std::vector<pollfd> all;
  while (!ending_) {
    all = {{listener_, POLLIN, 0}, {wakeup_, POLLIN, 0}};
    int timeout = -1;
    state_.with([&](state& s) {
      for (const auto& p : s.pairs) {
        all.push_back({p->client_gone ? -1 : p->client, POLLIN, 0});
        all.push_back({p->server, POLLIN, 0});
        for (const std::size_t at : both) {
          if (p->ways[at].waiting.empty() || s.now[at] == treatment::hold) continue;
          const auto left = p->ways[at].waiting.front().due - clock::now();
          const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
          const int wait = std::max(0, static_cast<int>(ms));
          timeout = timeout < 0 ? wait : std::min(timeout, wait);
        }
      }
    });
    ::poll(all.data(), all.size(), timeout);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = ::read(wakeup_, &count, sizeof count);
    state_.with([&](state& s) {
      const std::size_t known = (all.size() - 2) / 2;
      for (std::size_t n_th = 0; n_th < known; ++n_th) {
        pair& p = *s.pairs[n_th];
        if (all[2 + 2 * n_th].revents != 0) read(s, p, 0);
        if (all[3 + 2 * n_th].revents != 0) read(s, p, 1);
      }
      for (const auto& p : s.pairs) {
        for (const std::size_t at : both) pass_on(s, *p, at);
        if (p->client_gone && p->ways[0].waiting.empty()) p->over = true;
      }
      std::erase_if(s.pairs, [](const auto& p) {
        if (!p->over) return false;
        ::close(p->client);
        ::close(p->server);
        return true;
      });
      if ((all[0].revents & POLLIN) != 0) accept(s);
    });
  }
}

void fault_proxy::accept(state& s) {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails harmlessly for a unix socket
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un there = address_of(server_);
    if (s.refuses || ::connect(server, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    auto p = std::make_unique<pair>();
    p->client = client;
    p->server = server;
    p->mute = s.mutes_new_ones;
    s.pairs.push_back(std::move(p));
    ++accepted_;
  }
}

void fault_proxy::read(state& s, pair& p, std::size_t at) {
  char buffer[16 * 1024];
  const ssize_t n = ::recv(at == 0 ? p.client : p.server, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    p.client_gone = at == 0;
    p.over = at == 1;
    return;
  }
  const auto size = static_cast<std::size_t>(n);
  seen_[at] += size;
  if (s.now[at] == treatment::swallow || p.mute) {
    p.ways[at].lost_something = true;
    return;
  }
  p.ways[at].waiting.push_back({clock::now() + s.late[at], std::string(buffer, size)});
}

void fault_proxy::pass_on(state& s, pair& p, std::size_t at) {
  std::vector<chunk>& waiting = p.ways[at].waiting;
  while (!p.over && !waiting.empty() && s.now[at] != treatment::hold && waiting.front().due <= clock::now()) {
    std::string bytes = std::move(waiting.front().bytes);
    waiting.erase(waiting.begin());
    const bool cut = s.cut_after[at] < bytes.size();
    if (cut) bytes.resize(s.cut_after[at]);
    if (s.cut_after[at] != ~std::size_t{0}) s.cut_after[at] -= std::min(s.cut_after[at], bytes.size());
    const int to = at == 0 ? p.server : p.client;
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    if (cut) {
      s.cut_after[at] = ~std::size_t{0};
      p.over = true;
    }
  }
}

}  // namespace holdfast::test
