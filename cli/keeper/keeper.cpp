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
#include "hold/holder.hpp"

namespace holdfast::cli {

namespace {

constexpr char release_command = 'r';
constexpr int request_timeout = 1'000;  // milliseconds

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

/// Returns whether the peer runs as our user or root.
bool is_trusted(int fd) noexcept {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  return who.uid == 0 || who.uid == ::geteuid();
}

}  // namespace

control_socket::control_socket(const std::string& owner) : fd_(make_socket(SOCK_NONBLOCK)) {
  const address mine(owner);
  if (::bind(fd_.get(), mine.get(), mine.size) != 0 || ::listen(fd_.get(), 8) != 0) fail(errno, "the keeper's socket");
}

std::optional<control_socket::request> control_socket::open() const {
  descriptor who(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (who.get() < 0 || !is_trusted(who.get()) || !readable(who.get(), request_timeout)) return std::nullopt;
  char words[4096];
  const ssize_t n = ::recv(who.get(), words, sizeof words, MSG_DONTWAIT);
  if (n < 1 || words[0] != release_command) return std::nullopt;
  return request{std::move(who), std::string(words + 1, static_cast<std::size_t>(n) - 1)};
}

void control_socket::reply(const request& who, int code) noexcept {
  const auto byte = static_cast<unsigned char>(code);
  (void)::send(who.from.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<int> control_socket::send_release(const std::string& owner, const std::string& name,
                                                std::chrono::milliseconds patience) {
  const descriptor it = make_socket(0);
  const address its(owner);
  if (::connect(it.get(), its.get(), its.size) != 0) {
    if (errno == ECONNREFUSED) return std::nullopt;
    fail(errno, "the keeper's socket");
  }
  if (!is_trusted(it.get()))
    return std::nullopt;  // any user may listen under this name and claim that the lock is released
  const std::string words = release_command + name;
  (void)::send(it.get(), words.data(), words.size(), MSG_NOSIGNAL);
  const int wait = static_cast<int>(patience.count());
  unsigned char code = 0;
  if (!readable(it.get(), wait)) fail(ETIMEDOUT, "the keeper");
  if (::recv(it.get(), &code, 1, 0) != 1) fail(ECONNRESET, "the keeper");  // the keeper ended, or it rejected us
  (void)readable(it.get(), wait);                                          // wait for its exit
  return code;
}

namespace {

std::string program_of(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

/// Returns whether the caller has printed the result. If not, no process can reach this keeper.
bool is_confirmed(int caller, holder& mine) {
  if (mine.wait(caller) != holder::cause::extra_ready) return false;
  char word = 0;
  return ::recv(caller, &word, 1, MSG_DONTWAIT) == 1;
}

bool is_held(const acquire_options& o, const std::string& name) {
  return std::ranges::find(o.hold.names, name) != o.hold.names.end();
}

/// Keeps answering `holdfast release` with "lost" until the store no longer lists us, so that release never reports a
/// lost lock as held.
void answer_after_loss(const acquire_options& o, holder& mine, const control_socket& ours) {
  mine.linger(ours.fd(), [&] {
    const std::optional<control_socket::request> who = ours.open();
    if (!who) return false;
    const bool is_ours = is_held(o, who->name);
    control_socket::reply(*who, is_ours ? lost : usage);
    return is_ours;
  });
}

int hold_until_over(const acquire_options& o, watched_process& target, holder& mine, const control_socket& ours) {
  for (;;) {
    const holder::cause why = mine.wait(ours.fd());
    if (why == holder::cause::extra_ready) {
      const std::optional<control_socket::request> who = ours.open();
      if (!who) continue;
      if (!is_held(o, who->name)) {
        control_socket::reply(*who, usage);
        continue;
      }
      const int code = mine.release(why);
      control_socket::reply(*who, code);
      return code;
    }
    const int code = mine.release(why);
    if (code == lost && o.on_lost != 0) (void)target.signal(o.on_lost);
    if (code == lost) answer_after_loss(o, mine, ours);
    return code;
  }
}

}  // namespace

int run_keeper(const acquire_options& o, watched_process& target, int caller) {
  const status events(caller);
  const std::string label =
      o.hold.label_for("keeper for " + program_of(target.pid()) + " " + std::to_string(target.pid()));
  holder mine(o.hold, events, target, label);
  if (const int keeper_exit_code = mine.acquire(); keeper_exit_code >= 0) return keeper_exit_code;
  const control_socket ours(mine.held().owner());
  ::prctl(PR_SET_PDEATHSIG, 0);     // the caller exits and the keeper stays
  redirect_to_null(STDERR_FILENO);  // the caller's stderr may be a pipe whose reader waits for EOF
  if (!mine.report_acquired()) return mine.release(holder::cause::not_reported);
  if (!is_confirmed(caller, mine)) return mine.release(holder::cause::over);
  redirect_to_null(caller);
  [[maybe_unused]] const int away = ::chdir("/");  // do not keep the caller's file system busy
  return hold_until_over(o, target, mine, ours);
}

}  // namespace holdfast::cli
