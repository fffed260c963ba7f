#include "redis/transport/main_line.hpp"

#include <algorithm>
#include <utility>

#include "redis/protocol/keys.hpp"
#include "runtime/blocking.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::span;
using runtime::task;
using runtime::wake;

namespace {

constexpr milliseconds longest_pause = 1s;

}  // namespace

main_line::main_line(const dialer& d, const identity& me, runtime::loop& loop, listener& who)
    : dialer_(d), me_(me), loop_(loop), listener_(who) {}

/// Set before `up_` is read here, and read behind it in begin(): one of the two sees the other.
void main_line::distrust(const storage::failure& why) noexcept {
  distrusted_.with([&](auto& w) { w.emplace(copy_of(why)); });
  if (up_.exchange(false)) broken_.set();
}

std::optional<storage::failure> main_line::why_distrusted() const noexcept {
  return distrusted_.with([](const auto& why) { return why ? std::optional(copy_of(*why)) : std::nullopt; });
}

void main_line::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
}

task<reply> main_line::call(io& i, const command& what, limit l) {
  const instant sent = i.now();
  if (!up_) {
    std::optional<storage::failure> down = co_await listen(i, l);
    if (down) co_return std::move(*down);
  }
  if (!lines_.commands)
    co_return storage::failure(errc::unreachable, "the connection broke (" + dialer_.how().where() + ")");
  pending_reply mine(what);
  queue(what, &mine);
  // Thousands may be due before ours: as long as they come, the server is there.
  for (bool over = false; !over;) {
    const limit nearer(std::min(l.at(), later(silent_since_, dialer_.how().timeout)), l.stop());
    const wake why = co_await wait(i, mine.ready, nearer);
    over = why != wake::late || i.now() >= l.at() || is_silent();
  }
  if (mine.got) co_return std::move(*mine.got);
  pipeline_.abandon(mine);
  // Also if it is our own time that is over: all who come may have less of it than a silent server is given.
  if (is_silent()) break_up("no answer for " + std::to_string(dialer_.how().timeout.count()) + " ms", true);
  const auto waited = std::chrono::duration_cast<milliseconds>(i.now() - sent);
  co_return storage::failure::late("no answer for " + std::to_string(waited.count()) + " ms (" + dialer_.how().where() +
                                   ")");
}

/// Replies are due, and nothing but messages has come for too long. One may be there, if it was the loop that had no
/// time.
bool main_line::is_silent() noexcept {
  const auto for_too_long = [&] {
    return !pipeline_.empty() && loop_.now() >= later(silent_since_, dialer_.how().timeout);
  };
  if (for_too_long() && lines_.commands) on_ready();
  return for_too_long();
}

void main_line::post(const command& what) {
  if (up_) queue(what, nullptr);
}

task<std::optional<storage::failure>> main_line::listen(io& i, limit l) {
  if (up_) co_return std::nullopt;
  lobby::visitor me(lobby_);
  const lobby::welcome said = lobby_.enter(me);
  if (said == lobby::welcome::open) co_return std::nullopt;
  if (said == lobby::welcome::unattended) start_serving();
  const wake why = co_await wait(i, me.called, l);
  if (why == wake::signalled || !me.leave()) co_return me.why;
  co_return storage::failure::late("no connection within the limit (" + dialer_.how().where() + ")");
}

void main_line::connect_soon() {
  lobby::visitor nobody(lobby_);
  if (lobby_.enter(nobody) == lobby::welcome::unattended) start_serving();
}

void main_line::fail_to_connect(const storage::failure& why) noexcept {
  failed_ = true;
  lobby_.call_all(why);
}

command main_line::subscription(std::uint16_t of_slot) const {
  command c(2);
  c.add("SSUBSCRIBE").add(inboxes_at(me_.inboxes, of_slot) + me_.id);
  return c;
}

task<reply> main_line::hear(io& i, std::uint16_t of_slot, limit l) {
  if (hears(of_slot)) co_return value();
  if (!i.in_place()) {
    const command c = subscription(of_slot);
    reply got = co_await call(i, c, std::move(l));
    co_return got;
  }
  const auto left_to_the_loop = std::make_shared<errand>();
  loop_.start();
  tasks_.spawn(run(left_to_the_loop, of_slot, l));
  const wake why = co_await wait(i, left_to_the_loop->over, l);
  if (why == wake::signalled) co_return std::move(left_to_the_loop->got);
  co_return storage::failure::late("not heard within the limit (" + dialer_.how().where() + ")");
}

task<void> main_line::run(std::shared_ptr<errand> what, std::uint16_t of_slot, limit l) {
  const command c = subscription(of_slot);
  try {
    what->got = co_await call(loop_, c, l);
  } catch (const std::exception& e) {
    what->got = storage::failure(errc::not_ready, e.what());
  }
  what->over.set();
}

void main_line::hear_soon(std::uint16_t of_slot) {
  if (!up_ || asked_for_.test(of_slot) || hears(of_slot)) return;
  asked_for_.set(of_slot);
  queue(subscription(of_slot), nullptr);
}

void main_line::start_serving() {
  try {
    loop_.start();
    tasks_.spawn(serve());
  } catch (const std::exception&) {
    lobby_.give_up_serving();
    throw;
  }
}

/// Connects, serves, and connects again, until nobody needs it.
task<void> main_line::serve() {
  for (;;) {
    const auto jitter = static_cast<std::int64_t>(loop_.random() % 1024);
    const limit pause(later(loop_.now(), pause_ / 2 + pause_ * jitter / 1024), ending_.get_token());
    wake why = wake::late;
    if (pause_ > 0ms) why = co_await wait(loop_, hurry_, pause);
    if (why == wake::signalled) pause_ = 0ms;
    span was_up{0};
    std::optional<storage::failure> failed;
    try {
      was_up = co_await serve_once();
    } catch (const std::exception& e) {  // no thread, or no memory
      failed.emplace(errc::not_ready, e.what());
    }
    if (failed && lines_.commands) end(*failed);
    if (failed) fail_to_connect(*failed);
    // One that breaks again at once is almost as bad as none; one that is not what it was is as bad.
    const bool lasted = was_up > longest_pause;
    const bool bad = was_up == span(0) || why_distrusted();
    pause_ = lasted ? 0ms : std::min(bad ? longest_pause : longest_pause / 20, pause_ * 2 + 5ms);
    const bool over = retire();
    if (over) co_return;
  }
}

/// Connects, and serves until it breaks. For how long; zero: it did not connect.
task<span> main_line::serve_once() {
  distrusted_.with([](auto& why) { why.reset(); });
  const auto dialling = [this] { return dial(); };
  lines made = co_await runtime::blocking(loop_, dialling, &dials_);
  if (made.why) {
    fail_to_connect(*made.why);
    co_return span(0);
  }
  const instant since = loop_.now();
  begin(std::move(made));
  for (bool over = false; !over;) {
    if (me_.introduction) post(*me_.introduction);
    const wake why = co_await wait(loop_, broken_, limit(later(loop_.now(), 1h), ending_.get_token()));
    over = why != wake::late;
  }
  if (why_broken_.empty()) why_broken_ = "the connection was given up";
  storage::failure given_up(errc::unreachable, why_broken_ + " (" + dialer_.how().where() + ")");
  given_up.is_late = broken_by_silence_;
  end(why_distrusted().value_or(given_up));
  co_return std::max(loop_.now() - since, span(1));
}

/// On a thread of its own.
main_line::lines main_line::dial() const noexcept {
  lines made;
  try {
    const limit l(later(boot_clock::now(), dialer_.how().connect_timeout), ending_.get_token());
    made.commands = dialer_.open(l);
    if (!made.commands->resp3()) made.messages = dialer_.open(l);
    if (!dialer_.how().of_a_cluster())
      dialer_.subscribe(made.messages ? *made.messages : *made.commands, me_.inboxes + me_.id, l);
  } catch (const storage::failure& why) {
    made.why = why;
  } catch (const std::exception& e) {
    made.why = storage::failure(errc::not_ready, e.what());
  }
  return made;
}

void main_line::begin(lines made) {
  lines_ = std::move(made);
  why_broken_.clear();
  broken_by_silence_ = false;
  try {
    loop_.watch(lines_.commands->fd(), [this] { on_ready(); });
    if (lines_.messages) loop_.watch(lines_.messages->fd(), [this] { on_message(); });
  } catch (const std::exception& e) {
    return break_up(e.what());
  }
  ++connections_;
  failed_ = false;
  up_ = true;
  if (why_distrusted()) {
    up_ = false;
    return broken_.set();
  }
  lobby_.call_all(std::nullopt);
  if (connections_ > 1) listener_.in_doubt(storage::no_shard);
  listener_.back();
}

/// What was due is not known.
void main_line::end(const storage::failure& why) noexcept {
  up_ = false;
  if (lines_.commands) loop_.unwatch(lines_.commands->fd());
  if (lines_.messages) loop_.unwatch(lines_.messages->fd());
  lines_ = {};
  heard_.with([](slots& all) { all.reset(); });
  asked_for_.reset();
  writable_watched_ = false;
  sending_.clear();
  pipeline_.fail_all(why, [](pending_reply& failed, bool /*was_sent*/) { failed.ready.set(); });
  if (!ending_.stop_requested()) listener_.in_doubt(storage::no_shard);
}

/// True: nobody waits for a connection, and serve() ends.
bool main_line::retire() noexcept {
  if (ending_.stop_requested()) lobby_.call_all(storage::failure(errc::closed, ""));
  return lobby_.retire();
}

void main_line::queue(const command& what, pending_reply* whose) {
  try {
    if (pipeline_.empty()) silent_since_ = loop_.now();
    if (sending_.empty() && !pipeline_.has_unsent()) tasks_.spawn(flush_soon());
    pipeline_.add(what, whose);
  } catch (const std::bad_alloc&) {
    break_up("no memory");
    throw;
  }
}

/// What gets ready in one turn of the loop goes out in one write.
task<void> main_line::flush_soon() {
  if (lines_.commands) flush();
  co_return;
}

void main_line::flush() {
  try {
    pipeline_.take_unsent(sending_);
    const bool all = lines_.commands->send(sending_);
    if (all == writable_watched_) loop_.watch_writable(lines_.commands->fd(), !all);
    writable_watched_ = !all;
  } catch (const std::exception& e) {
    break_up(e.what());
  }
}

void main_line::on_ready() noexcept {
  try {
    if (writable_watched_) flush();
    const bool came = lines_.commands->receive();
    bool messages = false, replies = false;
    while (std::optional<value> v = lines_.commands->next()) {
      if (v->is(value::kind::push)) {
        messages = true;
        replies = deliver(std::move(*v)) || replies;
      } else {
        replies = true;
        take_reply(std::move(*v));
      }
    }
    // A long reply comes in many parts. A server that sends messages only is silent.
    if (replies || (came && !messages)) silent_since_ = loop_.now();
  } catch (const std::exception& e) {
    break_up(e.what());
  }
}

void main_line::take_reply(value v) {
  pending_reply* const complete = pipeline_.take(std::move(v));
  if (complete != nullptr) complete->ready.set();
}

void main_line::on_message() noexcept {
  try {
    (void)lines_.messages->receive();
    while (std::optional<value> v = lines_.messages->next()) (void)deliver(std::move(*v));
  } catch (const std::exception& e) {
    break_up(e.what());
  }
}

/// {smessage, channel, text}; {ssubscribe, channel, how many}, which comes in the place of a reply, and then it returns
/// true; and {sunsubscribe, …}, when the server has taken an inbox away. A cluster does so when a slot moves: what was
/// in it is elsewhere now.
bool main_line::deliver(value push) {
  if (push.items.size() < 2) return false;
  const std::string& what = push.items[0].text;
  if (what == "smessage" && push.items.size() == 3) {
    listener_.pushed(push.items[2].text);
  } else if (what == "ssubscribe") {
    heard_.with([&](slots& all) { all.set(slot_of(push.items[1].text)); });
    take_reply(std::move(push));
    return true;
  } else if (what == "sunsubscribe" && !dialer_.how().of_a_cluster()) {
    break_up("the server has taken our inbox away");
  } else if (what == "sunsubscribe") {
    const std::uint16_t where = slot_of(push.items[1].text);
    heard_.with([&](slots& all) { all.reset(where); });
    asked_for_.reset(where);
    listener_.missed(storage::no_shard);
  }
  return false;
}

/// serve() takes it from here.
void main_line::break_up(std::string why, bool by_silence) noexcept {
  if (why_broken_.empty()) {
    why_broken_ = std::move(why);
    broken_by_silence_ = by_silence;
  }
  broken_.set();
}

}  // namespace holdfast::redis
