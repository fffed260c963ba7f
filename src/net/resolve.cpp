#include <netdb.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "net/socket.hpp"
#include "runtime/clock.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/thread.hpp"

namespace holdfast::net {

namespace {

struct lookup {
  std::mutex mutex;
  std::condition_variable over;
  bool done = false;
  int error = 0;
  std::vector<address> found;
};

int look_up(const std::string& host, int port, int flags, std::vector<address>& found) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) return error;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    address one;
    std::memcpy(&one.where, a->ai_addr, a->ai_addrlen);
    one.size = a->ai_addrlen;
    found.push_back(one);
  }
  ::freeaddrinfo(list);
  return 0;
}

}  // namespace

// The system's resolver cannot be interrupted, so names are looked up on a thread that is abandoned at the limit.
std::vector<address> resolve(const std::string& host, int port, const limit& l) {
  std::vector<address> numeric;
  if (look_up(host, port, AI_NUMERICHOST, numeric) == 0) return numeric;
  const auto shared = std::make_shared<lookup>();
  std::thread thread = runtime::start_thread("holdfast-name", [shared, host, port] {
    std::vector<address> found;
    const int error = look_up(host, port, AI_ADDRCONFIG, found);
    const std::lock_guard lock(shared->mutex);
    shared->error = error;
    shared->found = std::move(found);
    shared->done = true;
    shared->over.notify_one();
  });
  thread.detach();
  std::unique_lock lock(shared->mutex);
  while (!shared->done) {
    const runtime::instant now = boot_clock::now();
    if (now >= l.at() || l.stop().stop_requested()) throw broken::late("no answer about the name " + host);
    const runtime::span left = l.at() == runtime::never ? std::chrono::hours(1) : l.at() - now;
    // In slices, to check the stop token.
    shared->over.wait_for(lock, std::min<runtime::span>(left, std::chrono::milliseconds(50)));
  }
  // The resolver also fails if no descriptor is left; this throws then.
  if (shared->error != 0) (void)runtime::descriptor(::eventfd(0, EFD_CLOEXEC), "eventfd");
  if (shared->error != 0) throw broken("the name " + host + " is not known: " + ::gai_strerror(shared->error));
  return shared->found;
}

address unix_address(const std::string& path) {
  address a;
  auto& to = reinterpret_cast<sockaddr_un&>(a.where);
  if (path.size() >= sizeof to.sun_path) throw broken("the path of the socket is too long: " + path, true);
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.data(), path.size());
  a.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return a;
}

}  // namespace holdfast::net
