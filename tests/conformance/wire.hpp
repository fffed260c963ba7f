#pragma once
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "holdfast/listing.hpp"
#include "holdfast/state.hpp"

/// What a test and a client in another process say to each other: one packet a message, over a SOCK_SEQPACKET pair.
namespace holdfast::conformance {

enum class request_kind : std::uint8_t {
  open,
  poll,
  wakeup,
  renew,
  downgrade,
  release,
  resize,
  inspect,
  revoke,
  list,
  break_lock,
  close,
  cut,
  open_cell,
  get,
  put,
  changed,
  close_cell
};

struct order_message {
  request_kind what{};
  std::uint64_t claim = 0;
  std::uint64_t call = 0;  ///< of this order, or for cut: of the one that is to end
  std::int64_t until = 0;  ///< on the boot clock, in nanoseconds
  std::int64_t ttl = 0;    ///< in milliseconds
  std::uint64_t owner[2]{};
  std::uint64_t only[2]{};  ///< whose lock is broken
  std::uint32_t part = 0;
  std::uint32_t whole = 0;
  std::uint64_t fence = 0;
  std::int64_t delay = 0;     ///< in milliseconds
  std::uint64_t version = 0;  ///< of a cell
  std::uint64_t number = 0;
  bool there = false;
  bool again = false;
  bool fixed = false;
  bool barges = false;
  bool queue = true;
  std::uint16_t name =
      0;  ///< bytes of the text that are the name; the rest is the label, or the reason, or where to go on
};

enum class reply : std::uint8_t { yes, no, unknown, woken, asked };

struct reply_message {
  reply what{};
  std::uint64_t call = 0;
  std::uint64_t fence = 0;
  std::uint64_t fences = 0;
  std::int64_t until = 0;
  std::uint64_t version = 0;  ///< of a cell
  std::uint64_t number = 0;
  std::int64_t left = 0;     ///< in milliseconds
  bool there = false;        ///< of a cell; of who is asked: what it had was taken
  bool is_late = false;      ///< of an unknown
  int code = 0;              ///< an errc, or a runtime::wake
  std::uint64_t owner[2]{};  ///< of who is asked; the text is the reason then
};

/// A state as a text, and back.
class packing {
 public:
  static std::string packed(const listing& page) {
    packing p;
    p.text(page.next).number(page.names.size());
    for (const listing::entry& each : page.names) p.text(each.name).text(packed(each.now));
    return p.text_;
  }
  static listing unpacked_page(std::string text) {
    packing p;
    p.text_ = std::move(text);
    listing page;
    p.text(page.next);
    page.names.resize(p.number());
    for (listing::entry& each : page.names) {
      std::string is;
      p.text(each.name);
      p.text(is);
      each.now = unpacked(std::move(is));
    }
    return page;
  }
  static std::string packed(const state& s) {
    packing p;
    p.number(s.holding).number(s.permits).number(s.waiting).number(s.holders.size());
    for (const state::holder& h : s.holders) {
      p.party(h).number(h.foreign).number(h.fence).number(h.left ? static_cast<std::uint64_t>(h.left->count()) + 1 : 0);
      p.date(h.since);
    }
    p.number(s.waiters.size());
    for (const state::party& w : s.waiters) p.party(w);
    p.note(s.asked).note(s.broken).date(s.waiting_since);
    return p.text_;
  }
  static state unpacked(std::string text) {
    packing p;
    p.text_ = std::move(text);
    state s;
    s.holding = p.number();
    s.permits = static_cast<std::uint32_t>(p.number());
    s.waiting = p.number();
    s.holders.resize(p.number());
    for (state::holder& h : s.holders) {
      p.party(h);
      h.foreign = p.number() != 0;
      h.fence = p.number();
      if (const std::uint64_t left = p.number()) h.left = std::chrono::milliseconds(left - 1);
      p.date(h.since);
    }
    s.waiters.resize(p.number());
    for (state::party& w : s.waiters) p.party(w);
    p.note(s.asked);
    p.note(s.broken);
    p.date(s.waiting_since);
    return s;
  }

 private:
  packing& number(std::uint64_t n) {
    text_.append(reinterpret_cast<const char*>(&n), sizeof n);
    return *this;
  }
  std::uint64_t number() {
    std::uint64_t n = 0;
    std::memcpy(&n, text_.data() + at_, sizeof n);
    at_ += sizeof n;
    return n;
  }
  packing& text(const std::string& t) {
    number(t.size());
    text_ += t;
    return *this;
  }
  void text(std::string& t) {
    const std::size_t size = number();
    t = text_.substr(at_, size);
    at_ += size;
  }
  using date_of = std::optional<std::chrono::system_clock::time_point>;
  packing& date(const date_of& d) { return number(d ? static_cast<std::uint64_t>(d->time_since_epoch().count()) : 0); }
  void date(date_of& d) {
    const std::uint64_t n = number();
    if (n != 0) d.emplace(std::chrono::system_clock::duration(n));
  }
  packing& note(const std::optional<state::note>& n) {
    number(n.has_value());
    return n ? text(n->reason).text(n->by).number(n->fence).date(n->at) : *this;
  }
  void note(std::optional<state::note>& n) {
    if (number() == 0) return;
    state::note made{};
    text(made.reason);
    text(made.by);
    made.fence = number();
    date(made.at);
    n = std::move(made);
  }
  packing& party(const state::party& w) {
    text(w.owner).text(w.label).text(w.host).text(w.program);
    return number(static_cast<std::uint64_t>(w.pid)).number(w.permits).number(w.reads);
  }
  void party(state::party& w) {
    text(w.owner);
    text(w.label);
    text(w.host);
    text(w.program);
    w.pid = static_cast<std::int64_t>(number());
    w.permits = static_cast<std::uint32_t>(number());
    w.reads = number() != 0;
  }
  std::string text_;
  std::size_t at_ = 0;
};

template <class Message>
bool send(int socket, const Message& message, const std::string& text = {}) {
  static_assert(std::is_trivially_copyable_v<Message>);
  std::string packet(sizeof message, '\0');
  std::memcpy(packet.data(), &message, sizeof message);
  packet += text;
  return ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

/// Nothing: the other side is gone.
template <class Message>
std::optional<Message> receive(int socket, std::string& text) {
  std::string packet(192 * 1024, '\0');
  ssize_t n = 0;
  do n = ::recv(socket, packet.data(), packet.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n < static_cast<ssize_t>(sizeof(Message))) return std::nullopt;
  Message message;
  std::memcpy(&message, packet.data(), sizeof message);
  text.assign(packet, sizeof message, static_cast<std::size_t>(n) - sizeof message);
  return message;
}

}  // namespace holdfast::conformance
