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

constexpr std::uint64_t mark_of_request = 0x6f67'2074'656c'2021;
constexpr std::uint64_t mark_of_break = 0x656e'6f67'2073'6921;

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
  in.remove(name_of(own));  // left by a session with the same number, before a restore
  const sockaddr_un here = address(in, own);
  descriptor made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.get() < 0 || ::bind(made.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    throw storage::failure(errc::not_ready,
                           "cannot create " + in.file(name_of(own)) + ": " + std::generic_category().message(errno));
  }
  return made;
}

std::size_t kernel_capacity() {
  std::ifstream file("/proc/sys/net/unix/max_dgram_qlen");
  std::size_t capacity = 0;
  return file >> capacity && capacity > 0 ? capacity : 1;
}

}  // namespace

std::string revoke_message::packed() const {
  const head h{broken ? mark_of_break : mark_of_request, fence, static_cast<std::uint32_t>(reason.size()),
               static_cast<std::uint32_t>(owners.size())};
  std::string bytes(sizeof h, '\0');
  std::memcpy(bytes.data(), &h, sizeof h);
  bytes.append(reason);
  for (const owner_bytes& each : owners) bytes.append(each.data(), each.size());
  return bytes;
}

std::optional<revoke_message> revoke_message::parse(std::string_view bytes) {
  head h{};
  if (bytes.size() < sizeof h) return std::nullopt;
  std::memcpy(&h, bytes.data(), sizeof h);
  bytes.remove_prefix(sizeof h);
  const bool broken = h.mark == mark_of_break;
  if ((!broken && h.mark != mark_of_request) || h.reason > longest_reason || h.owners > most_owners)
    return std::nullopt;
  if (bytes.size() != h.reason + h.owners * sizeof(owner_bytes)) return std::nullopt;
  revoke_message read{
      .fence = h.fence, .reason = std::string(bytes.substr(0, h.reason)), .owners = {}, .broken = broken};
  read.owners.resize(h.owners);
  std::memcpy(read.owners.data(), bytes.data() + h.reason, h.owners * sizeof(owner_bytes));
  return read;
}

receiver::receiver(inbox& in, const owner_bytes& owner) : inbox_(in), owner_(owner) {
  inbox_.receivers_.with([&](auto& all) { all[owner_] = this; });
}

receiver::~receiver() {
  inbox_.receivers_.with([&](auto& all) { all.erase(owner_); });
}

inbox::inbox(const folder& in, session_id own, const std::vector<session_id>& ended, runtime::loop& loop)
    : folder_(in),
      own_(own),
      loop_(loop),
      socket_(make_socket(in, own)),
      address_(in.identify(name_of(own))),
      capacity_(kernel_capacity()) {
  for (const session_id id : ended) in.remove(name_of(id));
  loop_.watch(socket_.get(), [this] { read(); });
}

inbox::~inbox() {
  loop_.unwatch(socket_.get());
  folder_.remove(name_of(own_));
}

void inbox::check() const { folder_.check(name_of(own_), address_); }

void inbox::refresh() const noexcept { folder_.refresh(name_of(own_)); }

void inbox::wake_all() {
  receivers_.with([](auto& all) {
    for (auto& [owner, each] : all) each->called.set();
  });
}

inbox::result inbox::send(session_id to, const message& text) const {
  return send(to, std::string_view(reinterpret_cast<const char*>(&text), sizeof text));
}

inbox::result inbox::send(session_id to, const revoke_message& text) const {
  return send(to, std::string_view(text.packed()));
}

inbox::result inbox::send(session_id to, std::string_view bytes) const {
  const sockaddr_un there = address(folder_, to);
  for (;;) {
    const ssize_t sent = ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&there), sizeof there);
    if (sent >= 0) return result::sent;
    if (errno == EINTR) continue;
    return errno == ECONNREFUSED || errno == ENOENT ? result::gone : result::full;
  }
}

void inbox::when_revoked(std::function<void(storage::revoke_request)> reaction) {
  revoked_.with([&](auto& to) { to = std::move(reaction); });
}

void inbox::when_overflowed(std::function<void()> reaction) {
  overflow_.with([&](auto& to) { to = std::move(reaction); });
}

/// The inbox may have been full, and messages that were sent then are lost.
void inbox::overflowed() {
  wake_all();
  overflow_.with([](const auto& reaction) {
    if (reaction) reaction();
  });
}

void inbox::read() {
  std::array<char, revoke_message::longest + 1> bytes;
  for (std::size_t count = 0;; ++count) {
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0) {
      if (count >= capacity_) overflowed();
      return;
    }
    message text;
    if (n == static_cast<ssize_t>(sizeof text)) {
      std::memcpy(&text, bytes.data(), sizeof text);
      deliver(text);
    } else if (const auto revoked = revoke_message::parse({bytes.data(), static_cast<std::size_t>(n)})) {
      deliver(*revoked);
    }
  }
}

void inbox::deliver(const message& text) {
  receivers_.with([&](auto& all) {
    const auto at = all.find(text.owner);
    if (at == all.end()) return;  // the claim has ended
    if (text.fence != 0) at->second->granted.with([&](auto& last) { last = text; });
    at->second->called.set();
  });
}

void inbox::deliver(const revoke_message& text) {
  revoked_.with([&](const auto& reaction) {
    if (!reaction) return;
    for (const owner_bytes& each : text.owners) {
      reaction({std::bit_cast<storage::owner_id>(each), text.fence, text.reason, text.broken});
    }
  });
}

}  // namespace holdfast::directory
