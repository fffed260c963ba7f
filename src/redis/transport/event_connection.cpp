#include "redis/transport/event_connection.hpp"

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

event_connection::event_connection(const dialer& d, const identity& me, runtime::loop& loop, listener& who)
    : dialer_(d), me_(me), loop_(loop), listener_(who) {}

void event_connection::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
}

task<std::optional<storage::failure>> event_connection::connect(io& i, limit l) {
  if (open_) co_return std::nullopt;
  connect_waiters::waiter me(waiters_);
  const connect_waiters::entry said = waiters_.enter(me);
  if (said == connect_waiters::entry::open) co_return std::nullopt;
  if (said == connect_waiters::entry::first) start_run();
  const wake why = co_await wait(i, me.woken, l);
  if (why == wake::signalled || !me.leave()) co_return me.why;
  co_return storage::failure::late(dialer_.located("no connection within the limit"));
}

void event_connection::connect_soon() {
  connect_waiters::waiter none(waiters_);
  if (waiters_.enter(none) == connect_waiters::entry::first) start_run();
}

void event_connection::start_run() {
  try {
    loop_.start();
    tasks_.spawn(run());
  } catch (const std::exception&) {
    waiters_.give_up_connecting();
    throw;
  }
}

/// Connects, serves, and connects again while callers wait for it.
task<void> event_connection::run() {
  for (;;) {
    const auto jitter = static_cast<std::int64_t>(loop_.random() % 1024);
    const limit pause(later(loop_.now(), pause_ / 2 + pause_ * jitter / 1024), ending_.get_token());
    wake why = wake::late;
    if (pause_ > 0ms) why = co_await wait(loop_, at_once_, pause);
    if (why == wake::signalled) pause_ = 0ms;
    span was_open{0};
    std::optional<storage::failure> failed;
    try {
      was_open = co_await connect_and_serve();
    } catch (const std::exception& e) {  // no thread, or no memory
      failed.emplace(errc::not_ready, e.what());
    }
    if (failed && streams_.commands) shut(*failed);
    if (failed) report_failed_connect(*failed);
    // A connection that breaks at once is almost as bad as none; one that became invalid is as bad.
    const bool lasted = was_open > longest_pause;
    const bool bad = was_open == span(0) || why_invalid();
    pause_ = lasted ? 0ms : std::min(bad ? longest_pause : longest_pause / 20, pause_ * 2 + 5ms);
    const bool over = may_end();
    if (over) co_return;
  }
}

/// Connects, and serves until the connection breaks. Returns how long it was open; zero if it did not connect.
task<span> event_connection::connect_and_serve() {
  invalid_.with([](auto& why) { why.reset(); });
  const auto dialling = [this] { return dial(); };
  streams made = co_await runtime::blocking(loop_, dialling, &dial_thread_);
  if (made.why) {
    report_failed_connect(*made.why);
    co_return span(0);
  }
  const instant since = loop_.now();
  open(std::move(made));
  for (bool over = false; !over;) {
    if (me_.introduction) post(*me_.introduction);
    const wake why = co_await wait(loop_, broken_, limit(later(loop_.now(), 1h), ending_.get_token()));
    over = why != wake::late;
  }
  if (why_broken_.empty()) why_broken_ = "the connection was given up";
  storage::failure broke(errc::unreachable, dialer_.located(why_broken_));
  broke.is_late = broken_by_silence_;
  shut(why_invalid().value_or(broke));
  co_return std::max(loop_.now() - since, span(1));
}

/// Runs on its own thread.
event_connection::streams event_connection::dial() const noexcept {
  streams made;
  try {
    const limit l(later(boot_clock::now(), dialer_.config().connect_timeout), ending_.get_token());
    made.commands = dialer_.open(l);
    if (!made.commands->resp3()) made.messages = dialer_.open(l);
    if (!dialer_.config().of_a_cluster())
      dialer_.subscribe(made.messages ? *made.messages : *made.commands, me_.inboxes + me_.id, l);
  } catch (const storage::failure& why) {
    made.why = why;
  } catch (const std::exception& e) {
    made.why = storage::failure(errc::not_ready, e.what());
  }
  return made;
}

void event_connection::open(streams made) {
  streams_ = std::move(made);
  why_broken_.clear();
  broken_by_silence_ = false;
  try {
    loop_.watch(streams_.commands->fd(), [this] { on_ready(); });
    if (streams_.messages) loop_.watch(streams_.messages->fd(), [this] { on_message(); });
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  ++connections_;
  failed_ = false;
  open_ = true;
  if (why_invalid()) {
    open_ = false;
    return broken_.set();
  }
  waiters_.wake_all(std::nullopt);
  if (connections_ > 1) listener_.in_doubt(storage::no_shard);
  listener_.back();
}

/// connect_and_serve() shuts it then.
void event_connection::fail(std::string why, bool by_silence) noexcept {
  if (why_broken_.empty()) {
    why_broken_ = std::move(why);
    broken_by_silence_ = by_silence;
  }
  broken_.set();
}

/// `invalid_` is set before `open_` is read here, and read after `open_` is set in open(): one of the two sees the
/// other.
void event_connection::invalidate(const storage::failure& why, next attempt) noexcept {
  invalid_.with([&](auto& w) { w.emplace(copy_of(why)); });
  if (open_.exchange(false)) broken_.set();
  if (attempt == next::at_once) at_once_.set();
}

std::optional<storage::failure> event_connection::why_invalid() const noexcept {
  return invalid_.with([](const auto& why) { return why ? std::optional(copy_of(*why)) : std::nullopt; });
}

/// The outcome of all calls that are due is unknown.
void event_connection::shut(const storage::failure& why) noexcept {
  open_ = false;
  if (streams_.commands) loop_.unwatch(streams_.commands->fd());
  if (streams_.messages) loop_.unwatch(streams_.messages->fd());
  streams_ = {};
  subscribed_.with([](slots& all) { all.reset(); });
  requested_.reset();
  watches_writable_ = false;
  sending_.clear();
  pipeline_.fail_all(why, [](pending_reply& failed, bool /*was_sent*/) { failed.woken.set(); });
  if (!ending_.stop_requested()) listener_.in_doubt(storage::no_shard);
}

void event_connection::report_failed_connect(const storage::failure& why) noexcept {
  failed_ = true;
  waiters_.wake_all(why);
}

bool event_connection::may_end() noexcept {
  if (ending_.stop_requested()) waiters_.wake_all(storage::failure(errc::closed, ""));
  return waiters_.stop_connecting();
}

task<reply> event_connection::call(io& i, const command& what, limit l) {
  const instant sent = i.now();
  if (!open_) {
    std::optional<storage::failure> down = co_await connect(i, l);
    if (down) co_return std::move(*down);
  }
  if (!streams_.commands) co_return storage::failure(errc::unreachable, dialer_.located("the connection broke"));
  pending_reply mine(what);
  queue(what, &mine);
  // Thousands may be due before ours: while they arrive, the server is not silent.
  for (bool over = false; !over;) {
    const limit nearer(std::min(l.at(), later(silent_since_, dialer_.config().timeout)), l.stop());
    const wake why = co_await wait(i, mine.woken, nearer);
    over = why != wake::late || i.now() >= l.at() || is_silent();
  }
  if (mine.got) co_return std::move(*mine.got);
  pipeline_.abandon(mine);
  // Checked even if the caller's own limit has passed: every caller may have a shorter one than the timeout.
  if (is_silent()) fail("no answer for " + std::to_string(dialer_.config().timeout.count()) + " ms", true);
  const auto waited = std::chrono::duration_cast<milliseconds>(i.now() - sent);
  co_return storage::failure::late(dialer_.located("no answer for " + std::to_string(waited.count()) + " ms"));
}

/// True if replies are due, and only messages have come for too long. Reads first: a reply may wait in the socket
/// because the loop was busy.
bool event_connection::is_silent() noexcept {
  const auto for_too_long = [&] {
    return !pipeline_.empty() && loop_.now() >= later(silent_since_, dialer_.config().timeout);
  };
  if (for_too_long() && streams_.commands) on_ready();
  return for_too_long();
}

void event_connection::post(const command& what) {
  if (open_) queue(what, nullptr);
}

command event_connection::subscribe_command(std::uint16_t slot) const {
  command c(2);
  c.add("SSUBSCRIBE").add(inboxes_at(me_.inboxes, slot) + me_.id);
  return c;
}

task<reply> event_connection::subscribe(io& i, std::uint16_t slot, limit l) {
  if (is_subscribed(slot)) co_return value();
  if (!i.in_place()) {
    const command c = subscribe_command(slot);
    reply got = co_await call(i, c, std::move(l));
    co_return got;
  }
  const auto on_loop = std::make_shared<subscription>();
  loop_.start();
  tasks_.spawn(subscribe_on_loop(on_loop, slot, l));
  const wake why = co_await wait(i, on_loop->done, l);
  if (why == wake::signalled) co_return std::move(on_loop->got);
  co_return storage::failure::late(dialer_.located("not subscribed within the limit"));
}

task<void> event_connection::subscribe_on_loop(std::shared_ptr<subscription> for_caller, std::uint16_t slot, limit l) {
  const command c = subscribe_command(slot);
  try {
    for_caller->got = co_await call(loop_, c, l);
  } catch (const std::exception& e) {
    for_caller->got = storage::failure(errc::not_ready, e.what());
  }
  for_caller->done.set();
}

void event_connection::subscribe_soon(std::uint16_t slot) {
  if (!open_ || requested_.test(slot) || is_subscribed(slot)) return;
  requested_.set(slot);
  queue(subscribe_command(slot), nullptr);
}

void event_connection::queue(const command& what, pending_reply* whose) {
  try {
    if (pipeline_.empty()) silent_since_ = loop_.now();
    if (sending_.empty() && !pipeline_.has_unsent()) tasks_.spawn(flush_soon());
    pipeline_.add(what, whose);
  } catch (const std::bad_alloc&) {
    fail("no memory");
    throw;
  }
}

/// All commands that are queued in one turn of the loop are sent in one write.
task<void> event_connection::flush_soon() {
  if (streams_.commands) flush();
  co_return;
}

void event_connection::flush() {
  try {
    pipeline_.take_unsent(sending_);
    const bool all = streams_.commands->send(sending_);
    if (all == watches_writable_) loop_.watch_writable(streams_.commands->fd(), !all);
    watches_writable_ = !all;
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

void event_connection::on_ready() noexcept {
  try {
    if (watches_writable_) flush();
    const bool came = streams_.commands->receive();
    bool messages = false, replies = false;
    while (std::optional<value> v = streams_.commands->next()) {
      if (v->is(value::kind::push)) {
        messages = true;
        replies = take_push(std::move(*v)) || replies;
      } else {
        replies = true;
        take_reply(std::move(*v));
      }
    }
    // A long reply comes in many parts. A server that sends only messages is silent.
    if (replies || (came && !messages)) silent_since_ = loop_.now();
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

void event_connection::on_message() noexcept {
  try {
    (void)streams_.messages->receive();
    while (std::optional<value> v = streams_.messages->next()) (void)take_push(std::move(*v));
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

/// {smessage, channel, text}; {ssubscribe, channel, count}, which is the reply to our command, so that it returns true;
/// or {sunsubscribe, …}, when the server has ended a subscription. A cluster does so when a slot moves.
bool event_connection::take_push(value push) {
  if (push.items.size() < 2) return false;
  const std::string& what = push.items[0].text;
  if (what == "smessage" && push.items.size() == 3) {
    listener_.pushed(push.items[2].text);
  } else if (what == "ssubscribe") {
    subscribed_.with([&](slots& all) { all.set(slot_of(push.items[1].text)); });
    take_reply(std::move(push));
    return true;
  } else if (what == "sunsubscribe" && !dialer_.config().of_a_cluster()) {
    fail("the server has taken our inbox away");
  } else if (what == "sunsubscribe") {
    const std::uint16_t where = slot_of(push.items[1].text);
    subscribed_.with([&](slots& all) { all.reset(where); });
    requested_.reset(where);
    listener_.missed(storage::no_shard);
  }
  return false;
}

void event_connection::take_reply(value v) {
  pending_reply* const complete = pipeline_.take(std::move(v));
  if (complete != nullptr) complete->woken.set();
}

}  // namespace holdfast::redis
