#include "conformance/process_client.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <utility>

#include "runtime/signal.hpp"

namespace holdfast::conformance {

using runtime::instant;
using runtime::io;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::grant;
using storage::milliseconds;

namespace {

/// A lock in another process orders two threads of this one, which the thread sanitizer cannot see. Each request and
/// each reply therefore passes through this atomic.
std::atomic<unsigned> order_of_things{0};

}  // namespace

/// A request that waits for its reply.
struct process_client::call {
  runtime::signal answered;
  std::optional<unpacker> reply;
};

/// A claim or a cell in the other process.
class process_client::far_target {
 public:
  template <class Spec>
  far_target(process_client& c, request_kind what, const Spec& spec) : client_(c), id_(++c.last_) {
    (void)send(client_.socket_, packed(request{.what = what, .target = id_}, spec));
  }
  far_target(const far_target&) = delete;
  far_target& operator=(const far_target&) = delete;
  ~far_target() { (void)send(client_.socket_, packed(request{.what = request_kind::close, .target = id_})); }

  template <class T, class... Arguments>
  task<answer<T>> ask(io& i, limit l, request_kind what, const Arguments&... with) {
    return client_.ask<T>(i, std::move(l), what, id_, packed(with...));
  }
  template <class... Arguments>
  task<wake> wait(io& i, limit l, request_kind what, const Arguments&... with) {
    return client_.wait_there(i, std::move(l), what, id_, packed(with...));
  }

 private:
  process_client& client_;
  const std::uint64_t id_;
};

class process_client::far_claim final : public storage::claim {
 public:
  far_claim(process_client& c, const storage::claim_spec& spec) : there_(c, request_kind::open, spec) {}
  task<answer<grant>> poll(io& i, limit l) override { return there_.ask<grant>(i, std::move(l), request_kind::poll); }
  task<wake> wakeup(io& i, limit l) override { return there_.wait(i, std::move(l), request_kind::wakeup); }
  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return there_.ask<instant>(i, std::move(l), request_kind::renew, ttl);
  }
  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    return there_.ask<instant>(i, std::move(l), request_kind::downgrade, fence, ttl);
  }
  task<answer<done>> release(io& i, limit l) override {
    return there_.ask<done>(i, std::move(l), request_kind::release);
  }

 private:
  far_target there_;
};

class process_client::far_cell final : public storage::cell {
 public:
  far_cell(process_client& c, const std::string& name) : there_(c, request_kind::open_cell, name) {}
  task<answer<storage::reading>> get(io& i, limit l) override {
    return there_.ask<storage::reading>(i, std::move(l), request_kind::get);
  }
  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    return there_.ask<std::uint64_t>(i, std::move(l), request_kind::put, seen, wanted);
  }
  task<wake> changed(io& i, storage::reading seen, limit l) override {
    return there_.wait(i, std::move(l), request_kind::changed, seen);
  }

 private:
  far_target there_;
};

task<answer<state>> process_client::far_admin::inspect(io& i, std::string name, limit l) {
  return client_.ask<state>(i, std::move(l), request_kind::inspect, 0, packed(name));
}

task<answer<listing>> process_client::far_admin::list(io& i, std::string prefix, std::string after, std::size_t most,
                                                      limit l) {
  return client_.ask<listing>(i, std::move(l), request_kind::list, 0, packed(prefix, after, most));
}

task<answer<done>> process_client::far_admin::revoke(io& i, std::string name, std::string reason, std::uint64_t fence,
                                                     limit l) {
  return client_.ask<done>(i, std::move(l), request_kind::revoke, 0, packed(name, reason, fence));
}

task<answer<done>> process_client::far_admin::break_lock(io& i, storage::break_request what, limit l) {
  return client_.ask<done>(i, std::move(l), request_kind::break_lock, 0, packed(what));
}

task<answer<done>> process_client::far_admin::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  return client_.ask<done>(i, std::move(l), request_kind::resize, 0, packed(name, whole));
}

template <class T>
task<answer<T>> process_client::ask(io& i, limit l, request_kind what, std::uint64_t target, std::string arguments) {
  call mine;
  const request sent{.what = what, .target = target};
  co_await carry(i, mine, sent, std::move(arguments), std::move(l));
  if (!mine.reply) co_return answer<T>::unknown(storage::failure::late("no reply from the client's process"));
  co_return mine.reply->answer<T>();
}

task<wake> process_client::wait_there(io& i, limit l, request_kind what, std::uint64_t target, std::string arguments) {
  call mine;
  const request sent{.what = what, .target = target};
  const wake ended = co_await carry(i, mine, sent, std::move(arguments), std::move(l));
  if (!mine.reply) co_return ended;
  co_return std::get<0>(mine.reply->take<wake>());
}

task<wake> process_client::carry(io& i, call& mine, request r, std::string arguments, limit l) {
  r.call = ++last_;
  r.until = l.at();
  const bool gone = calls_.with([&](calls& all) {
    all.open[r.call] = &mine;
    return all.over;
  });
  ++order_of_things;
  const bool sent = !gone && (weather_->lose_requests || send(socket_, packed(r) + arguments));
  wake end = wake::signalled;  // the process is gone: there is nothing to wait for
  // Like a client in this process, waits beyond the limit for a request that is carried out, but not for a lost one.
  const bool fine = !weather_->lose_requests && !weather_->lose_replies;
  const bool waits = r.what == request_kind::wakeup || r.what == request_kind::changed;
  const limit patient(fine && !waits ? runtime::later(l.at(), std::chrono::seconds(5)) : l.at(), l.stop());
  if (sent) end = co_await wait(i, mine.answered, patient);
  ++order_of_things;
  calls_.with([&](calls& all) { all.open.erase(r.call); });
  r.what = request_kind::cut;
  if (end != wake::signalled && waits) (void)send(socket_, packed(r));
  co_return end;
}

void process_client::report_to(storage::backend_events* events) {
  events_.with([&](auto& to) { to = events; });
}

process_client::process_client(const std::string& url, guarantees promises, std::shared_ptr<const weather> w)
    : promises_(promises), weather_(std::move(w)) {
  int ends[2], ready[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || ::pipe2(ready, O_CLOEXEC) != 0) {
    throw std::runtime_error("no sockets");
  }
  socket_ = ends[0];
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, ready[1], 1);
  std::string program = HOLDFAST_CLAIM_SERVER, argument = url;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ::close(ready[1]);
  char is_ready = 0;
  const bool well = failed == 0 && ::read(ready[0], &is_ready, 1) == 1;
  ::close(ready[0]);
  if (!well) throw std::runtime_error("the client's process does not start: " + program);
  reader_ = std::thread([this] { read_replies(); });
}

process_client::~process_client() {
  go_on();
  ::shutdown(socket_, SHUT_WR);
  reader_.join();  // the other side has closed its end: it is done
  ::close(socket_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::unique_ptr<storage::claim> process_client::open(storage::claim_spec spec) {
  return std::make_unique<far_claim>(*this, spec);
}

std::unique_ptr<storage::cell> process_client::open_cell(std::string name) {
  return std::make_unique<far_cell>(*this, name);
}

void process_client::read_replies() {
  while (std::optional<unpacker> got = receive(socket_)) {
    if (weather_->lose_replies) continue;
    const auto [r] = got->take<reply>();
    if (r.call == 0) {
      auto [what] = got->take<storage::revoke_request>();
      events_.with([&, &asks = what](storage::backend_events* to) {
        if (to != nullptr) to->revoke_requested(asks);
      });
      continue;
    }
    calls_.with([&, id = r.call](calls& all) {
      const auto at = all.open.find(id);
      if (at == all.open.end()) return;  // its caller has left
      at->second->reply = std::move(*got);
      at->second->answered.set();
    });
  }
  calls_.with([](calls& all) {
    all.over = true;
    for (auto& [id, c] : all.open) c->answered.set();
  });
}

void process_client::kill() const {
  ::kill(pid_, SIGKILL);
  siginfo_t gone{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &gone, WEXITED | WNOWAIT);
}

void process_client::stop() {
  stopped_ = true;
  ::kill(pid_, SIGSTOP);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WNOWAIT);
}

// Continues only a stopped process: a SIGCONT at its end would disturb the leak sanitizer, which also stops it.
void process_client::go_on() {
  if (std::exchange(stopped_, false)) ::kill(pid_, SIGCONT);
}

}  // namespace holdfast::conformance
