#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/locks.hpp"

namespace holdfast::chaos {

namespace {

using namespace std::chrono_literals;

/// A connection to a Redis server. After each error it connects to the next address.
class plain_connection {
 public:
  /// `paths` are separated by commas.
  explicit plain_connection(const std::string& paths) {
    std::istringstream in(paths);
    for (std::string path; std::getline(in, path, ',');) paths_.push_back(path);
  }
  plain_connection(const plain_connection&) = delete;
  plain_connection& operator=(const plain_connection&) = delete;
  ~plain_connection() { drop(); }

  /// The first character of the reply, or '?' if there is none or it is an error.
  char ask(const std::string& words) {
    if (socket_ < 0 && !connect()) return '?';
    const std::string request = words + "\r\n";
    char answer[64];
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()) &&
        ::recv(socket_, answer, sizeof answer, 0) > 0 && answer[0] != '-') {
      return answer[0];
    }
    drop();
    return '?';
  }

 private:
  bool connect() {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{0, 250'000};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_un there{};
    there.sun_family = AF_UNIX;
    const std::string& path = paths_[next_++ % paths_.size()];
    std::memcpy(there.sun_path, path.data(), std::min(path.size(), sizeof there.sun_path - 1));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0) return true;
    drop();
    return false;
  }
  void drop() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  std::vector<std::string> paths_;
  std::size_t next_ = 0;
  int socket_ = -1;
};

}  // namespace

void run_naive_client(const assignment& a, event_channel& coordinator) {
  using kind = event::kind;
  plain_connection server(a.where);
  std::mt19937_64 choose(a.seed);
  event me;
  me.lock = naive_lock;
  me.party = a.process * threads;
  const auto say = [&](kind what) {
    event e = me;
    e.what = what;
    e.at = now();
    e.deadline = std::numeric_limits<std::int64_t>::max();  // it has none
    return e;
  };
  bool waits = false;
  while (coordinator.ask(say(kind::next)).yes) {
    if (!waits) coordinator.tell(say(kind::calls));
    waits = server.ask("SET {naive} mine NX PX 300") != '+';
    if (waits) {
      std::this_thread::sleep_for(5ms);  // such locks poll
      continue;
    }
    coordinator.tell(say(kind::granted));
    add_unfenced(coordinator, me, choose() % 2000);
    coordinator.tell(say(kind::releases));
    (void)server.ask("DEL {naive}");
    coordinator.tell(say(kind::released));
  }
}

}  // namespace holdfast::chaos
