#pragma once
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/claim.hpp"

/// The protocol between a test and a client in another process: one packet per message, over a SOCK_SEQPACKET pair.
/// A request is followed by the arguments of the call, a reply by its result.
namespace holdfast::conformance {

enum class request_kind : std::uint8_t {
  open,
  open_cell,
  close,
  cut,  ///< ends the wait of an earlier call
  poll,
  wakeup,
  renew,
  downgrade,
  release,
  get,
  put,
  changed,
  inspect,
  list,
  revoke,
  break_lock,
  resize
};

struct request {
  request_kind what{};
  std::uint64_t target = 0;  ///< the claim or cell; 0: the store
  std::uint64_t call = 0;
  storage::instant until{};
};

struct reply {
  std::uint64_t call = 0;  ///< 0: a revoke_request follows
};

template <class... Functions>
struct overloaded : Functions... {
  using Functions::operator()...;
};

/// The fields of each message, for packing and unpacking.
inline constexpr overloaded fields{
    [](auto& a, request& r) { a(r.what, r.target, r.call, r.until); },
    [](auto& a, reply& r) { a(r.call); },
    [](auto& a, storage::owner_id& id) { a(id.high, id.low); },
    [](auto& a, storage::share& s) { a(s.part, s.whole); },
    [](auto& a, storage::claim_spec& s) {
      a(s.name, s.owner, s.wants, s.ttl, s.delay, s.fixed, s.queue, s.barges, s.label);
    },
    [](auto& a, storage::grant& g) { a(g.fence, g.fences, g.deadline); },
    [](auto&, storage::done&) {},
    [](auto& a, storage::busy& b) { a(b.holder, b.asked); },
    [](auto& a, storage::failure& f) { a(f.code, f.text, f.left_to_caller, f.is_late); },
    [](auto& a, storage::reading& r) { a(r.version, r.there, r.number, r.note, r.left); },
    [](auto& a, storage::change& c) { a(c.id, c.number, c.note, c.ttl, c.again); },
    [](auto& a, storage::revoke_request& r) { a(r.owner, r.fence, r.reason, r.broken); },
    [](auto& a, storage::break_request& r) { a(r.id, r.name, r.fence, r.owner, r.reason); },
    [](auto& a, state::party& p) { a(p.owner, p.label, p.host, p.pid, p.program, p.permits, p.reads); },
    [](auto& a, state::holder& h) { a(static_cast<state::party&>(h), h.foreign, h.fence, h.left, h.since, h.margin); },
    [](auto& a, state::note& n) { a(n.reason, n.by, n.fence, n.at); },
    [](auto& a, state& s) {
      a(s.holders, s.holding, s.permits, s.waiters, s.waiting, s.waiting_since, s.asked, s.broken);
    },
    [](auto& a, listing::entry& e) { a(e.name, e.now); },
    [](auto& a, listing& l) { a(l.names, l.next); }};

template <class T>
concept plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class packer {
 public:
  template <class... T>
  void operator()(const T&... each) {
    (put(each), ...);
  }
  template <class T>
  void answer(storage::answer<T> a) {
    (*this)(a.is_yes(), a.is_no());
    if (a.is_yes()) return put(a.value());
    a.is_no() ? put(a.who()) : put(a.why());
  }
  std::string bytes;

 private:
  template <plain T>
  void put(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    bytes += text;
  }
  template <class T>
  void put(const std::vector<T>& all) {
    put(all.size());
    for (const T& each : all) put(each);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class N, class P>
  void put(const std::chrono::duration<N, P>& d) {
    put(d.count());
  }
  template <class C, class D>
  void put(const std::chrono::time_point<C, D>& t) {
    put(t.time_since_epoch());
  }
  template <class T>
  void put(const T& message) {
    fields(*this, const_cast<T&>(message));  // it is only read
  }
};

class unpacker {
 public:
  explicit unpacker(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class... T>
  void operator()(T&... each) {
    (get(each), ...);
  }
  template <class... T>
  std::tuple<T...> take() {
    std::tuple<T...> all;
    std::apply(*this, all);
    return all;
  }
  template <class T>
  storage::answer<T> answer() {
    const auto [yes, no] = take<bool, bool>();
    if (yes) return storage::answer<T>::yes(std::get<0>(take<T>()));
    if (no) return storage::answer<T>::no(std::get<0>(take<storage::busy>()));
    storage::failure why(errc::unreachable, "");
    get(why);
    return storage::answer<T>::unknown(std::move(why));
  }

 private:
  template <plain T>
  void get(T& value) {
    if (bytes_.copy(reinterpret_cast<char*>(&value), sizeof value, at_) != sizeof value) {
      throw std::out_of_range("a message is too short");
    }
    at_ += sizeof value;
  }
  std::size_t size() {
    std::size_t n = 0;
    get(n);
    return n;
  }
  void get(std::string& text) {
    const std::size_t n = size();
    text = bytes_.substr(at_, n);
    at_ += n;
  }
  template <class T>
  void get(std::vector<T>& all) {
    all.resize(size());
    for (T& each : all) get(each);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    if (!there) return;
    T it{};
    get(it);
    value = std::move(it);
  }
  template <class N, class P>
  void get(std::chrono::duration<N, P>& d) {
    N n{};
    get(n);
    d = std::chrono::duration<N, P>(n);
  }
  template <class C, class D>
  void get(std::chrono::time_point<C, D>& t) {
    D since{};
    get(since);
    t = std::chrono::time_point<C, D>(since);
  }
  template <class T>
  void get(T& message) {
    fields(*this, message);
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

template <class... T>
std::string packed(const T&... each) {
  packer all;
  all(each...);
  return std::move(all.bytes);
}

inline bool send(int socket, const std::string& packet) {
  return ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(packet.size());
}

/// Returns nothing if the other side is gone.
inline std::optional<unpacker> receive(int socket) {
  std::string packet(192 * 1024, '\0');
  ssize_t n = 0;
  do n = ::recv(socket, packet.data(), packet.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n <= 0) return std::nullopt;
  packet.resize(static_cast<std::size_t>(n));
  return unpacker(std::move(packet));
}

}  // namespace holdfast::conformance
