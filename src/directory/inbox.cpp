#include "directory/inbox.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

std::string name_of(session_id id) { return "inboxes/" + std::to_string(id); }

sockaddr_un address(const folder& in, session_id id) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const std::string path = in.short_path(name_of(id));
  std::memcpy(to.sun_path, path.data(), std::min(path.size(), sizeof to.sun_path - 1));
  return to;
}

descriptor make_socket(const folder& in, session_id own) {
  in.make_folder("inboxes");
  in.remove(name_of(own));  // of a session that had the same number before a restore
  const sockaddr_un here = address(in, own);
  descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.get() < 0 || ::bind(made.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    throw storage::failure(errc::not_ready,
                           "cannot make " + in.file(name_of(own)) + ": " + std::generic_category().message(errno));
  }
  return made;
}

std::size_t kernels_room() {
  std::ifstream file("/proc/sys/net/unix/max_dgram_qlen");
  std::size_t room = 0;
  return file >> room && room > 0 ? room : 1;
}

}  // namespace

inbox::inbox(const folder& in, session_id own, const std::vector<session_id>& gone, runtime::loop& loop)
    : folder_(in),
      own_(own),
      loop_(loop),
      socket_(make_socket(in, own)),
      address_(in.identify(name_of(own))),
      room_(kernels_room()) {
  for (const session_id id : gone) in.remove(name_of(id));
  loop_.watch(socket_.get(), [this] { read(); });
}

inbox::~inbox() {
  loop_.unwatch(socket_.get());
  folder_.remove(name_of(own_));
}

void inbox::add(const owner_bytes& owner, addressee& waiter) {
  waiting_.with([&](auto& all) { all[owner] = &waiter; });
}

void inbox::remove(const owner_bytes& owner) noexcept {
  waiting_.with([&](auto& all) { all.erase(owner); });
}

void inbox::check() const { folder_.check(name_of(own_), address_); }

void inbox::refresh() const noexcept { folder_.refresh(name_of(own_)); }

void inbox::wake_all() {
  waiting_.with([](auto& all) {
    for (auto& [owner, waiter] : all) waiter->called.set();
  });
}

bool inbox::send(session_id to, const message& text) const {
  return put(to, {reinterpret_cast<const char*>(&text), sizeof text}) != fate::gone;
}

inbox::fate inbox::send(session_id to, const letter& text) const { return put(to, text.packed()); }

inbox::fate inbox::put(session_id to, std::string_view bytes) const {
  const sockaddr_un there = address(folder_, to);
  for (;;) {
    const ssize_t sent = ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&there), sizeof there);
    if (sent >= 0) return fate::sent;
    if (errno == EINTR) continue;
    return errno == ECONNREFUSED || errno == ENOENT ? fate::gone : fate::full;
  }
}

void inbox::report_to(std::function<void(storage::revoke_request)> whom) {
  asked_.with([&](auto& to) { to = std::move(whom); });
}

void inbox::when_in_doubt(std::function<void()> verify) {
  doubt_.with([&](auto& to) { to = std::move(verify); });
}

/// It may have been full, and what was sent then is lost.
void inbox::overflowed() {
  wake_all();
  doubt_.with([](const auto& verify) {
    if (verify) verify();
  });
}

void inbox::read() {
  std::array<char, letter::longest + 1> bytes;
  for (std::size_t count = 0;; ++count) {
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0) {
      if (count >= room_) overflowed();
      return;
    }
    message text;
    if (n == static_cast<ssize_t>(sizeof text)) {
      std::memcpy(&text, bytes.data(), sizeof text);
      deliver(text);
    } else if (const auto asks = letter::parse({bytes.data(), static_cast<std::size_t>(n)})) {
      deliver(*asks);
    }
  }
}

void inbox::deliver(const message& text) {
  waiting_.with([&](auto& all) {
    const auto at = all.find(text.owner);
    if (at == all.end()) return;  // it has left
    if (text.fence != 0) at->second->granted.with([&](auto& last) { last = text; });
    at->second->called.set();
  });
}

void inbox::deliver(const letter& text) {
  asked_.with([&](const auto& to) {
    if (!to) return;
    for (const owner_bytes& each : text.owners) {
      to({std::bit_cast<storage::owner_id>(each), text.fence, text.reason, text.taken});
    }
  });
}

}  // namespace holdfast::directory
