#include "keeper/keeper.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "exit_code.hpp"
#include "holding/holder.hpp"

namespace holdfast::cli {

namespace {

constexpr char let_go = 'r';
constexpr int patience_with_visitors = 1'000;  // milliseconds

[[noreturn]] void fail(int why, const char* what) { throw std::system_error(why, std::generic_category(), what); }

struct address {
  sockaddr_un at{};
  socklen_t size = 0;

  explicit address(const std::string& owner) {
    const std::string name = std::string(1, '\0') + "holdfast-keeper-" + owner;
    at.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof at.sun_path);
    std::memcpy(at.sun_path, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  }
  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&at); }
};

descriptor make_socket(int more) {
  descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0));
  if (made.get() < 0) fail(errno, "socket");
  return made;
}

bool readable(int fd, int timeout_ms) noexcept {
  pollfd it{fd, POLLIN, 0};
  return ::poll(&it, 1, timeout_ms) > 0;
}

/// Of our user, or of root; whoever is at the other end.
bool is_trusted(int fd) noexcept {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == 0 || who.uid == ::geteuid();
}

}  // namespace

door::door(const std::string& owner) : fd_(make_socket(SOCK_NONBLOCK)) {
  const address mine(owner);
  if (::bind(fd_.get(), mine.get(), mine.size) != 0 || ::listen(fd_.get(), 8) != 0) fail(errno, "the keeper's socket");
}

std::optional<door::visitor> door::open() const {
  descriptor who(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (who.get() < 0 || !is_trusted(who.get()) || !readable(who.get(), patience_with_visitors)) return std::nullopt;
  char words[4096];
  const ssize_t n = ::recv(who.get(), words, sizeof words, MSG_DONTWAIT);
  if (n < 1 || words[0] != let_go) return std::nullopt;
  return visitor{std::move(who), std::string(words + 1, static_cast<std::size_t>(n) - 1)};
}

void door::reply(const visitor& who, int code) noexcept {
  const auto byte = static_cast<unsigned char>(code);
  (void)::send(who.from.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<int> door::knock(const std::string& owner, const std::string& name, std::chrono::milliseconds patience) {
  const descriptor it = make_socket(0);
  const address its(owner);
  if (::connect(it.get(), its.get(), its.size) != 0) {
    if (errno == ECONNREFUSED) return std::nullopt;
    fail(errno, "the keeper's socket");
  }
  if (!is_trusted(it.get())) return std::nullopt;  // anybody may listen there, and say that it is given back
  const std::string words = let_go + name;
  (void)::send(it.get(), words.data(), words.size(), MSG_NOSIGNAL);
  const int wait = static_cast<int>(patience.count());
  unsigned char code = 0;
  if (!readable(it.get(), wait)) fail(ETIMEDOUT, "the keeper");
  if (::recv(it.get(), &code, 1, 0) != 1) fail(ECONNRESET, "the keeper");  // it ended, or does not listen to us
  (void)readable(it.get(), wait);                                          // until it is gone
  return code;
}

namespace {

std::string program_of(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

/// The caller has it in writing what we hold. False: it is gone, or was told to stop, and nobody knows of us.
bool is_answered(int caller, holder& mine) {
  if (mine.wait(caller) != holder::cause::asked) return false;
  char word = 0;
  return ::recv(caller, &word, 1, MSG_DONTWAIT) == 1;
}

bool is_held(const acquire_options& o, const std::string& name) {
  return std::ranges::find(o.hold.names, name) != o.hold.names.end();
}

/// Release is told of the loss, and not that we hold it; by us, or by the store when it has forgotten us.
void linger_after_loss(const acquire_options& o, holder& mine, const door& ours) {
  mine.linger(ours.fd(), [&] {
    const std::optional<door::visitor> who = ours.open();
    if (!who) return false;
    const bool is_ours = is_held(o, who->name);
    door::reply(*who, is_ours ? lost : usage);
    return is_ours;
  });
}

int keep_until_over(const acquire_options& o, process_end& whom, holder& mine, const door& ours) {
  for (;;) {
    const holder::cause why = mine.wait(ours.fd());
    if (why == holder::cause::asked) {
      const std::optional<door::visitor> who = ours.open();
      if (!who) continue;
      if (!is_held(o, who->name)) {
        door::reply(*who, usage);
        continue;
      }
      const int code = mine.give_back(why);
      door::reply(*who, code);
      return code;
    }
    const int code = mine.give_back(why);
    if (code == lost && o.on_lost != 0) (void)whom.signal(o.on_lost);
    if (code == lost) linger_after_loss(o, mine, ours);
    return code;
  }
}

}  // namespace

int keep(const acquire_options& o, process_end& whom, int caller) {
  const status told(caller);
  const std::string label = o.hold.label_for("keeper for " + program_of(whom.pid()) + " " + std::to_string(whom.pid()));
  holder mine(o.hold, told, whom, label);
  if (const int not_had = mine.acquire(); not_had >= 0) return not_had;
  const door ours(mine.held().owner());
  ::prctl(PR_SET_PDEATHSIG, 0);  // the caller ends, and we stay
  turn_to_null(STDERR_FILENO);   // nothing of the caller's stays in our hands: somebody may wait for the end of a pipe
  if (!mine.tell_acquired()) return mine.give_back(holder::cause::untold);
  if (!is_answered(caller, mine)) return mine.give_back(holder::cause::over);
  turn_to_null(caller);
  [[maybe_unused]] const int away = ::chdir("/");  // somebody may want to unmount where we were
  return keep_until_over(o, whom, mine, ours);
}

}  // namespace holdfast::cli
