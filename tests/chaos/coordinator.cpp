#include "chaos/coordinator.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "chaos/event_channel.hpp"

namespace holdfast::chaos {

using kind = event::kind;

reply resource::serve(const event& e) {
  if (e.what == kind::peeks || e.what == kind::pokes) {
    counter& c = unfenced_[e.lock];
    if (e.what == kind::pokes) c.value = e.value;
    return {c.value, true};
  }
  counter& c = fenced_[e.lock];
  if (e.fence == 0 || e.fence < c.top) return {c.value, false};
  c.top = e.fence;
  if (e.what == kind::writes) c.value = e.value;
  return {c.value, true};
}

coordinator::coordinator(checker& c, history& h) : checker_(c), history_(h) {
  listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  std::memcpy(here.sun_path, path_.data(), std::min(path_.size(), sizeof here.sun_path - 1));
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 || ::listen(listener_, 128) != 0) {
    throw std::runtime_error("cannot listen at " + path_);
  }
  thread_ = std::thread([this] { run(); });
}

coordinator::~coordinator() {
  ending_ = true;
  thread_.join();
  for (const connection& c : connections_) ::close(c.socket);
  ::close(listener_);
}

void coordinator::tell(const event& e) {
  const std::scoped_lock mine(mutex_);
  history_.add(e);
  checker_.see(e);
}

void coordinator::run() {
  std::vector<pollfd> all;
  while (!ending_) {
    all = {{listener_, POLLIN, 0}};
    for (const connection& c : connections_) all.push_back({c.socket, POLLIN, 0});
    ::poll(all.data(), all.size(), 50);
    for (std::size_t n = 1; n < all.size(); ++n) {
      if (all[n].revents != 0) read_all(connections_[n - 1]);
    }
    std::erase_if(connections_, [](const connection& c) {
      if (c.over) ::close(c.socket);
      return c.over;
    });
    if (closing_ && overtaking_) end_overtaking();
    if ((all[0].revents & POLLIN) == 0) continue;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) connections_.push_back({socket, {}});
  }
}

void coordinator::read_all(connection& c) {
  for (;;) {
    event e;
    const ssize_t n = ::recv(c.socket, &e, sizeof e, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n != sizeof e) break;
    if (e.lock >= lock_count) throw std::runtime_error("a client sent an invalid event");
    if (c.first && e.what != kind::began) c.process = process_of(e.party);
    c.first = false;
    answer(c, e);
  }
  c.over = true;
  report_death(c);
}

void coordinator::answer(connection& c, const event& asked) {
  event e = asked;
  std::optional<reply> r;
  switch (e.what) {
    case kind::next: r = {std::chrono::milliseconds(limit_).count(), !closing_}; break;
    case kind::reads:
    case kind::writes:
    case kind::peeks:
    case kind::pokes:
      r = resource_.serve(e);
      e.yes = r->yes;
      if (e.what == kind::reads || e.what == kind::peeks) e.value = r->value;
      break;
    default: break;
  }
  if (e.what != kind::next) tell(e);
  if (e.lock == naive_lock && e.what == kind::peeks) begin_overtaking(e);
  if (r) ::send(c.socket, &*r, sizeof *r, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (e.lock == naive_lock && e.what == kind::pokes && overtaking_ && overtaking_->party != e.party) end_overtaking();
}

void coordinator::report_death(const connection& c) {
  if (!c.process) return;
  const process_table::end its = processes_.wait_for_end(*c.process);
  event e{.what = kind::died, .yes = its.killed, .party = *c.process * threads, .at = its.at, .value = its.code};
  if (overtaking_ && process_of(overtaking_->party) == *c.process) end_overtaking();
  tell(e);
}

void coordinator::begin_overtaking(const event& reader) {
  constexpr std::int64_t pause = 1'000'000'000;
  if (overtaking_ || reader.at < next_overtaking_ || closing_) return;
  overtaking_ =
      event{.what = kind::fault, .lock = naive_lock, .yes = true, .party = reader.party, .at = now(), .value = -1};
  overtaking_->say("naive_standstill");
  processes_.stop(process_of(reader.party));  // it waits for the reply, so it has not written yet
  next_overtaking_ = reader.at + pause;
  tell(*overtaking_);
}

void coordinator::end_overtaking() {
  processes_.resume(process_of(overtaking_->party));
  overtaking_->yes = false;
  overtaking_->at = now();
  tell(*overtaking_);
  overtaking_.reset();
}

}  // namespace holdfast::chaos
