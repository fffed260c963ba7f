#include "sim/redis_transport.hpp"

#include <algorithm>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;
using redis::value;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr runtime::span longest_silence = 100ms;  // with replies due
constexpr runtime::span longest_dial = 100ms;

storage::failure no_answer() { return storage::failure::late("no answer"); }
storage::failure no_connection() { return {errc::unreachable, "no connection"}; }

}  // namespace

class redis_transport::counted {
 public:
  explicit counted(std::size_t& n) : n_(n) { ++n_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --n_; }

 private:
  std::size_t& n_;
};

redis_transport::redis_transport(ends e, std::string channel, redis::listener& who)
    : world_(e.all),
      network_(e.between),
      server_(std::move(e.server)),
      loop_(e.loop),
      any_way_(e.any_way),
      channel_(std::move(channel)),
      listener_(who),
      pool_(2),
      tasks_(e.loop) {}

task<redis::reply> redis_transport::call(io& i, const redis::command& what, limit l,
                                         std::optional<redis::abandoned_command>* abandoned) {
  const counted here(waiting_);
  connection& c = choose(i);
  std::optional<storage::failure> down;
  if (&c == &events_) {
    down = co_await listen(i, channel_, l);
  } else {
    down = co_await ensure_open(i, c, l);
  }
  if (down) co_return std::move(*down);
  if (!is_open(c)) co_return no_connection();  // it broke again before this ran
  redis::reply got = co_await call_on(i, c, what, std::move(l), abandoned);
  const value* const said = std::get_if<value>(&got);
  if (said != nullptr && said->is(value::kind::error) && redis::is_wrong_server(said->text)) start_over();
  co_return got;
}

redis_transport::connection& redis_transport::choose(const io& i) {
  const bool by_events = any_way_ ? world_.chance(0.3) : &i == &loop_;
  return by_events ? events_ : pool_[world_.below(pool_.size())];
}

task<redis::reply> redis_transport::call_on(io& i, connection& c, const redis::command& what, limit l,
                                            std::optional<redis::abandoned_command>* abandoned) {
  redis::pending_reply mine(what);
  send(c, what, &mine);
  const instant too_long = later(i.now(), longest_silence);
  const limit nearer(std::min(l.at(), too_long), l.stop());
  const wake why = co_await wait(i, mine.woken, nearer);
  if (mine.got) co_return std::move(*mine.got);
  const std::size_t which = &c == &events_ ? pool_.size() : static_cast<std::size_t>(&c - pool_.data());
  if (abandoned != nullptr) *abandoned = redis::abandoned_command{.index = which, .connection = c.number};
  c.sent.abandon(mine);
  if (why == wake::late && i.now() >= too_long) cut(c);
  co_return no_answer();
}

void redis_transport::follow(const redis::abandoned_command& where, const redis::command& what) noexcept {
  connection& c = at(where.index);
  if (!is_open(c) || c.number != where.connection) return;
  send(c, what, nullptr);
}

void redis_transport::send(connection& c, const redis::command& what, redis::pending_reply* waiter) {
  c.sent.add(what, waiter);
  std::string bytes;
  c.sent.take_unsent(bytes);
  c.bytes->send(bytes);
}

/// The caller that finds a connection of the pool closed opens it.
task<std::optional<storage::failure>> redis_transport::ensure_open(io& i, connection& c, limit l) {
  if (is_open(c)) co_return std::nullopt;
  const instant made = later(i.now(), world_.between(60us, 4ms));
  const bool lost = !network_.piece();
  const instant until = lost ? later(i.now(), longest_dial) : made;
  const wake why = co_await sleep(i, limit(std::min(l.at(), until), l.stop()));
  if (is_open(c)) co_return std::nullopt;
  if (lost || why == wake::stopped || i.now() < made || crashed_) co_return no_answer();
  if (network_.refuses() || !connect(c)) co_return no_connection();
  co_return std::nullopt;
}

task<std::optional<storage::failure>> redis_transport::listen(io& i, const std::string&, limit l) {
  if (listens_) co_return std::nullopt;
  const counted here(waiting_);
  waiter me;
  waiters_.add(me);
  if (!std::exchange(dialling_, true)) tasks_.spawn(dial());
  const wake why = co_await wait(i, me.woken, l);
  waiters_.remove(me);
  if (why == wake::signalled) co_return me.why;
  co_return no_answer();
}

/// Opens the event connection and subscribes. If it breaks in between, the next caller tries again.
task<void> redis_transport::dial() {
  const std::optional<storage::failure> down =
      co_await ensure_open(loop_, events_, limit(later(loop_.now(), longest_dial)));
  bool heard = false;
  if (!down) {
    const std::shared_ptr<redis_connection> mine = events_.bytes;
    redis::command subscribe(2);
    subscribe.add("SSUBSCRIBE").add(channel_);
    mine->send(subscribe.bytes());
    const wake why = co_await wait(loop_, subscribed_, limit(later(loop_.now(), longest_dial)));
    heard = why == wake::signalled && mine->is_open();
    if (!heard && mine->is_open()) mine->close();
  }
  dialling_ = false;
  if (!heard) {
    wake_waiters(no_answer());
    co_return;
  }
  listens_ = true;
  wake_waiters(std::nullopt);
  if (std::exchange(has_listened_, true)) listener_.in_doubt(storage::no_shard);
  listener_.back();
}

void redis_transport::post(const redis::command& what) {
  if (!listens_) return;
  send(events_, what, nullptr);
}

bool redis_transport::connect(connection& c) {
  redis_server* const to = server_();
  if (to == nullptr) return false;
  ++c.number;
  c.bytes = std::make_shared<redis_connection>(world_, network_, *to, loop_);
  c.bytes->open({[this, &c](value v) { received(c, std::move(v)); }, [this, &c] { broke(c); }});
  return true;
}

void redis_transport::received(connection& c, value v) {
  if (v.is(value::kind::push)) {
    if (v.items.at(0).text == "ssubscribe") return subscribed_.set();
    on_message(v.items.at(2).text);
    return listener_.pushed(v.items.at(2).text);
  }
  if (c.sent.empty()) {
    if (!seeded(bug::late_reply_to_another)) world_.violate("I12: a reply without a request");
    return;
  }
  redis::pending_reply* const complete = c.sent.take(std::move(v));
  if (complete != nullptr) complete->woken.set();
}

/// The outcome of all calls that are due is unknown.
void redis_transport::broke(connection& c) {
  c.sent.fail_all(no_connection(), [](redis::pending_reply& failed, bool /*was_sent*/) { failed.woken.set(); });
  if (&c == &events_ && !std::exchange(listens_, false)) {  // it was not open yet: dial() takes care of it
    if (dialling_) subscribed_.set();
    return;
  }
  listener_.in_doubt(storage::no_shard);
}

void redis_transport::wake_waiters(const std::optional<storage::failure>& why) {
  for (waiter* w = waiters_.first(); w != nullptr; w = waiters_.first()) {
    w->why = why;
    waiters_.wake_first();
  }
}

const redis_connection* redis_transport::prompt_event_connection() const noexcept {
  return listens_ && events_.bytes->is_prompt() ? events_.bytes.get() : nullptr;
}

void redis_transport::cut(connection& c) {
  if (!is_open(c)) return;
  c.bytes->close();
  broke(c);
}

void redis_transport::start_over() {
  if (crashed_) return;
  for (connection& each : pool_) cut(each);
  cut(events_);
  listener_.in_doubt(storage::no_shard);
}

void redis_transport::disturb() {
  const std::uint64_t which = world_.below(pool_.size() + 1);
  const connection& c = which == pool_.size() ? events_ : pool_[which];
  if (is_open(c)) c.bytes->go_silent();
}

void redis_transport::crash(real noticed_after) {
  crashed_ = true;
  if (events_.bytes) events_.bytes->crash(noticed_after);
  for (const connection& c : pool_) {
    if (c.bytes) c.bytes->crash(noticed_after);
  }
}

}  // namespace holdfast::sim
