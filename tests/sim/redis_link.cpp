#include "sim/redis_link.hpp"

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

class redis_link::counted {
 public:
  explicit counted(std::size_t& n) : n_(n) { ++n_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --n_; }

 private:
  std::size_t& n_;
};

redis_link::redis_link(ends e, std::string channel, redis::listener& who)
    : world_(e.all),
      network_(e.between),
      server_(std::move(e.server)),
      home_(e.home),
      any_way_(e.any_way),
      channel_(std::move(channel)),
      listener_(who),
      lanes_(2),
      tasks_(e.home) {}

task<redis::reply> redis_link::call(io& i, const redis::command& what, limit l,
                                    std::optional<redis::abandoned_command>* abandoned) {
  const counted here(waiting_);
  way& w = choose(i);
  std::optional<storage::failure> down;
  if (&w == &main_) {
    down = co_await listen(i, channel_, l);
  } else {
    down = co_await make_sure_of(i, w, l);
  }
  if (down) co_return std::move(*down);
  if (!is_open(w)) co_return no_connection();  // it broke again before we came to run
  redis::reply got = co_await call_on(i, w, what, std::move(l), abandoned);
  const value* const said = std::get_if<value>(&got);
  if (said != nullptr && said->is(value::kind::error) && redis::is_wrong_server(said->text)) start_over();
  co_return got;
}

redis_link::way& redis_link::choose(const io& i) {
  const bool by_main = any_way_ ? world_.chance(0.3) : &i == &home_;
  return by_main ? main_ : lanes_[world_.below(lanes_.size())];
}

task<redis::reply> redis_link::call_on(io& i, way& w, const redis::command& what, limit l,
                                       std::optional<redis::abandoned_command>* abandoned) {
  redis::pending_reply mine(what);
  send(w, what, &mine);
  const instant too_long = later(i.now(), longest_silence);
  const limit nearer(std::min(l.at(), too_long), l.stop());
  const wake why = co_await wait(i, mine.ready, nearer);
  if (mine.got) co_return std::move(*mine.got);
  const std::size_t which = &w == &main_ ? lanes_.size() : static_cast<std::size_t>(&w - lanes_.data());
  if (abandoned != nullptr) *abandoned = redis::abandoned_command{.lane = which, .connection = w.number};
  w.sent.abandon(mine);
  if (why == wake::late && i.now() >= too_long) give_up(w);
  co_return no_answer();
}

void redis_link::follow(const redis::abandoned_command& where, const redis::command& what) noexcept {
  way& w = at(where.lane);
  if (!is_open(w) || w.number != where.connection) return;
  send(w, what, nullptr);
}

void redis_link::send(way& w, const redis::command& what, redis::pending_reply* waiter) {
  w.sent.add(what, waiter);
  std::string bytes;
  w.sent.take_unsent(bytes);
  w.line->send(bytes);
}

/// For a lane: whoever finds it closed opens it.
task<std::optional<storage::failure>> redis_link::make_sure_of(io& i, way& w, limit l) {
  if (is_open(w)) co_return std::nullopt;
  const instant made = later(i.now(), world_.between(60us, 4ms));
  const bool lost = !network_.piece();
  const instant until = lost ? later(i.now(), longest_dial) : made;
  const wake why = co_await sleep(i, limit(std::min(l.at(), until), l.stop()));
  if (is_open(w)) co_return std::nullopt;
  if (lost || why == wake::stopped || i.now() < made || crashed_) co_return no_answer();
  if (network_.refuses() || !connect(w)) co_return no_connection();
  co_return std::nullopt;
}

task<std::optional<storage::failure>> redis_link::listen(io& i, const std::string&, limit l) {
  if (up_) co_return std::nullopt;
  const counted here(waiting_);
  visitor me;
  lobby_.push_back(&me);
  if (!std::exchange(dialling_, true)) tasks_.spawn(dial());
  const wake why = co_await wait(i, me.called, l);
  leave(me);
  if (why == wake::signalled) co_return me.why;
  co_return no_answer();
}

/// Opens the main line, and subscribes. Nobody waits for it, or it broke in between: the next caller tries again.
task<void> redis_link::dial() {
  const std::optional<storage::failure> down =
      co_await make_sure_of(home_, main_, limit(later(home_.now(), longest_dial)));
  bool heard = false;
  if (!down) {
    const std::shared_ptr<redis_line> mine = main_.line;
    redis::command subscribe(2);
    subscribe.add("SSUBSCRIBE").add(channel_);
    mine->send(subscribe.bytes());
    const wake why = co_await wait(home_, subscribed_, limit(later(home_.now(), longest_dial)));
    heard = why == wake::signalled && mine->is_open();
    if (!heard && mine->is_open()) mine->close();
  }
  dialling_ = false;
  if (!heard) {
    call_visitors(no_answer());
    co_return;
  }
  up_ = true;
  call_visitors(std::nullopt);
  if (std::exchange(was_up_, true)) listener_.in_doubt(storage::no_shard);
  listener_.back();
}

void redis_link::post(const redis::command& what) {
  if (!up_) return;
  send(main_, what, nullptr);
}

bool redis_link::connect(way& w) {
  redis_server* const to = server_();
  if (to == nullptr) return false;
  ++w.number;
  w.line = std::make_shared<redis_line>(world_, network_, *to, home_);
  w.line->open({[this, &w](value v) { came(w, std::move(v)); }, [this, &w] { broke(w); }});
  return true;
}

void redis_link::came(way& w, value v) {
  if (v.is(value::kind::push)) {
    if (v.items.at(0).text == "ssubscribe") return subscribed_.set();
    on_message(v.items.at(2).text);
    return listener_.pushed(v.items.at(2).text);
  }
  if (w.sent.empty()) {
    if (!seeded(bug::late_reply_to_another)) world_.violate("I12: a reply that nobody asked for");
    return;
  }
  redis::pending_reply* const complete = w.sent.take(std::move(v));
  if (complete != nullptr) complete->ready.set();
}

/// What was due is not known.
void redis_link::broke(way& w) {
  w.sent.fail_all(no_connection(), [](redis::pending_reply& failed, bool /*was_sent*/) { failed.ready.set(); });
  if (&w == &main_ && !std::exchange(up_, false)) {  // it was not up yet: dial() takes care of it
    if (dialling_) subscribed_.set();
    return;
  }
  listener_.in_doubt(storage::no_shard);
}

void redis_link::call_visitors(const std::optional<storage::failure>& why) {
  for (visitor* const v : std::exchange(lobby_, {})) {
    v->why = why;
    v->called.set();
  }
}

void redis_link::leave(const visitor& v) { std::erase(lobby_, &v); }

const redis_line* redis_link::prompt_main_line() const noexcept {
  return up_ && main_.line->is_prompt() ? main_.line.get() : nullptr;
}

void redis_link::give_up(way& w) {
  if (!is_open(w)) return;
  w.line->close();
  broke(w);
}

void redis_link::start_over() {
  if (crashed_) return;
  for (way& each : lanes_) give_up(each);
  give_up(main_);
  listener_.in_doubt(storage::no_shard);
}

void redis_link::disturb() {
  const std::uint64_t which = world_.below(lanes_.size() + 1);
  const way& w = which == lanes_.size() ? main_ : lanes_[which];
  if (is_open(w)) w.line->go_silent();
}

void redis_link::crash(real noticed_after) {
  crashed_ = true;
  if (main_.line) main_.line->crash(noticed_after);
  for (const way& w : lanes_) {
    if (w.line) w.line->crash(noticed_after);
  }
}

}  // namespace holdfast::sim
