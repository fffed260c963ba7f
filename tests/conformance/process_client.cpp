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

/// A lock in another process orders what two threads of this one do, which the thread sanitizer cannot see: so each
/// request and each reply passes here.
std::atomic<unsigned> order_of_things{0};

}  // namespace

/// One that was sent, and waits for its reply.
struct process_client::call {
  runtime::signal answered;
  std::optional<reply_message> reply;
  std::string text;
};

class process_client::far_claim final : public storage::claim {
 public:
  far_claim(process_client& c, storage::claim_spec spec) : client_(c), id_(++c.last_) {
    order_message o{
        .what = request_kind::open, .claim = id_, .ttl = spec.ttl.count(), .owner = {spec.owner.high, spec.owner.low}};
    o.part = spec.wants.part;
    o.whole = spec.wants.whole;
    o.fixed = spec.fixed;
    o.delay = spec.delay.count();
    o.barges = spec.barges;
    o.queue = spec.queue;
    o.name = static_cast<std::uint16_t>(spec.name.size());
    (void)send(client_.socket_, o, spec.name + spec.label);
  }
  ~far_claim() override { (void)send(client_.socket_, order_message{.what = request_kind::close, .claim = id_}); }

  task<answer<grant>> poll(io& i, limit l) override {
    call mine;
    co_await carry(i, mine, request_kind::poll, milliseconds(0), l);
    if (is(mine, reply::no)) co_return answer<grant>::no({mine.text});
    if (!is(mine, reply::yes)) co_return answer<grant>::unknown(why(mine));
    const grant g{mine.reply->fence, mine.reply->fences, instant(std::chrono::nanoseconds(mine.reply->until))};
    co_return answer<grant>::yes(g);
  }

  task<wake> wakeup(io& i, limit l) override {
    call mine;
    const wake mine_ended = co_await carry(i, mine, request_kind::wakeup, milliseconds(0), l);
    co_return mine.reply ? static_cast<wake>(mine.reply->code) : mine_ended;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    call mine;
    co_await carry(i, mine, request_kind::renew, ttl, l);
    if (is(mine, reply::no)) co_return answer<instant>::no();
    if (!is(mine, reply::yes)) co_return answer<instant>::unknown(why(mine));
    co_return answer<instant>::yes(instant(std::chrono::nanoseconds(mine.reply->until)));
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    call mine;
    order_message o{.what = request_kind::downgrade, .claim = id_, .ttl = ttl.count(), .fence = fence};
    co_await client_.carry(i, mine, o, std::string(), l);
    if (is(mine, reply::no)) co_return answer<instant>::no();
    if (!is(mine, reply::yes)) co_return answer<instant>::unknown(why(mine));
    co_return answer<instant>::yes(instant(std::chrono::nanoseconds(mine.reply->until)));
  }

  task<answer<done>> release(io& i, limit l) override {
    call mine;
    co_await carry(i, mine, request_kind::release, milliseconds(0), l);
    answer<done> end = done_or_not(mine);
    co_return end;
  }

 private:
  task<wake> carry(io& i, call& mine, request_kind what, milliseconds ttl, limit l) {
    const order_message o{.what = what, .claim = id_, .ttl = ttl.count()};
    const wake end = co_await client_.carry(i, mine, o, std::string(), std::move(l));
    co_return end;
  }

  process_client& client_;
  const std::uint64_t id_;
};

class process_client::far_cell final : public storage::cell {
 public:
  far_cell(process_client& c, const std::string& name) : client_(c), id_(++c.last_) {
    (void)send(client_.socket_, order_message{.what = request_kind::open_cell, .claim = id_}, name);
  }
  ~far_cell() override { (void)send(client_.socket_, order_message{.what = request_kind::close_cell, .claim = id_}); }

  task<answer<storage::reading>> get(io& i, limit l) override {
    call mine;
    const order_message o{.what = request_kind::get, .claim = id_};
    co_await client_.carry(i, mine, o, std::string(), std::move(l));
    if (!is(mine, reply::yes)) co_return answer<storage::reading>::unknown(why(mine));
    const reply_message& r = *mine.reply;
    storage::reading is_there{.version = r.version, .there = r.there, .number = r.number, .note = mine.text};
    is_there.left = milliseconds(r.left);
    co_return answer<storage::reading>::yes(is_there);
  }

  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    call mine;
    order_message o{.what = request_kind::put, .claim = id_, .ttl = wanted.ttl.count()};
    o.owner[0] = wanted.id.high;
    o.owner[1] = wanted.id.low;
    o.version = seen;
    o.number = wanted.number;
    o.again = wanted.again;
    co_await client_.carry(i, mine, o, wanted.note, std::move(l));
    if (is(mine, reply::no)) co_return answer<std::uint64_t>::no();
    if (!is(mine, reply::yes)) co_return answer<std::uint64_t>::unknown(why(mine));
    co_return answer<std::uint64_t>::yes(mine.reply->version);
  }

  task<wake> changed(io& i, storage::reading seen, limit l) override {
    call mine;
    order_message o{.what = request_kind::changed, .claim = id_, .ttl = seen.left.count()};
    o.version = seen.version;
    o.there = seen.there;
    o.number = seen.number;
    const wake mine_ended = co_await client_.carry(i, mine, o, seen.note, std::move(l));
    co_return mine.reply ? static_cast<wake>(mine.reply->code) : mine_ended;
  }

 private:
  process_client& client_;
  const std::uint64_t id_;
};

bool process_client::is(const call& c, reply what) { return c.reply && c.reply->what == what; }

storage::failure process_client::why(const call& c) {
  if (!is(c, reply::unknown)) return storage::failure::late("no reply from the client's process");
  storage::failure failed(static_cast<errc>(c.reply->code), c.text);
  failed.is_late = c.reply->is_late;
  return failed;
}

answer<done> process_client::done_or_not(const call& c) {
  if (is(c, reply::no)) return answer<done>::no();
  if (!is(c, reply::yes)) return answer<done>::unknown(why(c));
  return answer<done>::yes({});
}

/// Sends the order, and waits for its reply, or for the limit; then the other side is told to end its wait.
task<wake> process_client::carry(io& i, call& mine, order_message o, std::string text, limit l) {
  const std::uint64_t id = ++last_;
  const bool gone = calls_.with([&](calls& all) {
    all.open[id] = &mine;
    return all.over;
  });
  ++order_of_things;
  o.call = id;
  o.until = l.at().time_since_epoch().count();
  const bool sent = !gone && (weather_->lose_requests || send(socket_, o, text));
  wake end = wake::signalled;  // nobody is there to wait for: whoever asks again is told so
  // As in the client's own process, a request that is carried out is waited for beyond the limit; one that is lost on
  // the way is not.
  const bool fine = !weather_->lose_requests && !weather_->lose_replies;
  const bool waits = o.what == request_kind::wakeup || o.what == request_kind::changed;
  const limit patient(fine && !waits ? runtime::later(l.at(), std::chrono::seconds(5)) : l.at(), l.stop());
  if (sent) end = co_await wait(i, mine.answered, patient);
  ++order_of_things;
  calls_.with([&](calls& all) { all.open.erase(id); });
  if (end != wake::signalled && waits) (void)send(socket_, order_message{.what = request_kind::cut, .call = id});
  co_return end;
}

task<answer<done>> process_client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  call mine;
  const order_message o{.what = request_kind::resize, .whole = whole};
  co_await carry(i, mine, o, std::move(name), std::move(l));
  answer<done> end = done_or_not(mine);
  co_return end;
}

task<answer<state>> process_client::inspect(io& i, std::string name, limit l) {
  call mine;
  const order_message o{.what = request_kind::inspect};
  co_await carry(i, mine, o, std::move(name), std::move(l));
  if (!is(mine, reply::yes)) co_return answer<state>::unknown(why(mine));
  co_return answer<state>::yes(packing::unpacked(mine.text));
}

task<answer<done>> process_client::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  call mine;
  const order_message o{.what = request_kind::revoke, .fence = fence, .name = static_cast<std::uint16_t>(name.size())};
  co_await carry(i, mine, o, name + reason, std::move(l));
  answer<done> end = done_or_not(mine);
  co_return end;
}

task<answer<listing>> process_client::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  call mine;
  const order_message o{.what = request_kind::list, .number = most, .name = static_cast<std::uint16_t>(prefix.size())};
  co_await carry(i, mine, o, prefix + after, std::move(l));
  if (!is(mine, reply::yes)) co_return answer<listing>::unknown(why(mine));
  co_return answer<listing>::yes(packing::unpacked_page(mine.text));
}

task<answer<done>> process_client::break_lock(io& i, storage::break_request what, limit l) {
  call mine;
  order_message o{.what = request_kind::break_lock, .owner = {what.id.high, what.id.low}, .fence = what.fence};
  o.there = what.owner.has_value();
  if (what.owner) o.only[0] = what.owner->high;
  if (what.owner) o.only[1] = what.owner->low;
  o.name = static_cast<std::uint16_t>(what.name.size());
  co_await carry(i, mine, o, what.name + what.reason, std::move(l));
  answer<done> end = done_or_not(mine);
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
  return std::make_unique<far_claim>(*this, std::move(spec));
}

std::unique_ptr<storage::cell> process_client::open_cell(std::string name) {
  return std::make_unique<far_cell>(*this, name);
}

void process_client::read_replies() {
  std::string text;
  while (const auto r = receive<reply_message>(socket_, text)) {
    if (weather_->lose_replies) continue;
    if (r->what == reply::asked) {
      events_.with([&](storage::backend_events* to) {
        if (to != nullptr) to->revoke_requested({{r->owner[0], r->owner[1]}, r->fence, text, r->there});
      });
      continue;
    }
    calls_.with([&](calls& all) {
      const auto at = all.open.find(r->call);
      if (at == all.open.end()) return;  // nobody waits for it any more
      at->second->reply = *r;
      at->second->text = text;
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

// Only one that is stopped: a SIGCONT at its end would get in the way of the leak sanitizer, which stops it, too.
void process_client::go_on() {
  if (std::exchange(stopped_, false)) ::kill(pid_, SIGCONT);
}

}  // namespace holdfast::conformance
