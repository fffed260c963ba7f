#include "redis/transport/server_transport.hpp"

#include <system_error>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/script_call.hpp"
#include "runtime/blocking.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

server_transport::server_transport(settings s, const identity& me, runtime::loop& loop, listener& who)
    : loop_(loop),
      listener_(who),
      dialer_(std::move(s)),
      pool_(dialer_, loop, [&who] { who.in_doubt(storage::no_shard); }),
      events_(dialer_, me, loop, who),
      introduction_(me.introduction),
      introduced_(!me.introduction) {
  if (dialer_.asks() == nullptr) return;
  watch_.emplace(dialer_, loop, who);
  dialer_.asks()->when_moved([this, &who] {
    const storage::failure why(errc::unreachable, dialer_.located("the server is not what it was"));
    pool_.invalidate(why);
    events_.invalidate(why, event_connection::next::at_once);
    who.in_doubt(storage::no_shard);
    who.back();
  });
}

void server_transport::start_watch() {
  if (!watch_ || watches_.load(std::memory_order_relaxed) || watches_.exchange(true)) return;
  watch_->start();
}

task<reply> server_transport::call(io& i, const command& what, limit l, std::optional<abandoned_command>* abandoned) {
  start_watch();
  const runtime::instant sent = i.now();
  reply got = storage::failure(errc::unreachable, "");
  if (i.in_place()) {
    start();
    got = call_by_pool(what, l, abandoned);
  } else {
    got = co_await call_on_loop(i, what, std::move(l), abandoned);
  }
  const value* const said = std::get_if<value>(&got);
  if (said != nullptr && said->is(value::kind::error) && is_wrong_server(said->text)) {
    const storage::failure why = meaning_of(said->text, dialer_.config().prefix);
    pool_.invalidate(why);
    events_.invalidate(why);
  }
  if (what.time_behind()) check_clock(what, got, sent, i.now());
  co_return got;
}

/// Called before the first grant. It throws if the thread for renewals cannot start: nothing could renew the grant.
void server_transport::start() {
  if (!can_renew_.load(std::memory_order_relaxed)) {
    events_.start();
    can_renew_ = true;
  }
  if (closes_idle_.load(std::memory_order_relaxed) || closes_idle_.exchange(true)) return;
  loop_.start();
  tasks_.spawn(close_idle());
}

task<reply> server_transport::call_on_loop(io& i, const command& what, limit l,
                                           std::optional<abandoned_command>* abandoned) {
  if (!events_.is_open() && pool_.any_open()) {
    const bool connects = co_await connect_for_half(i, l);
    std::optional<reply> instead;
    if (!connects) instead = co_await call_by_open_connection(i, what, l, abandoned);
    if (instead) co_return *std::move(instead);
  }
  reply got = co_await events_.call(i, what, std::move(l));
  co_return got;
}

/// Waits for the event connection, but leaves half of the time to call without it.
task<bool> server_transport::connect_for_half(io& i, limit l) {
  if (events_.has_failed()) {
    events_.connect_soon();
    co_return false;
  }
  const runtime::instant now = i.now();
  const runtime::span most = std::min<runtime::span>(l.at() - now, dialer_.config().connect_timeout);
  const limit half(later(now, most / 2), l.stop());
  const std::optional<storage::failure> why_not = co_await events_.connect(i, half);
  co_return !why_not;
}

/// Returns nothing if no connection of the pool is open, or the limit has passed.
task<std::optional<reply>> server_transport::call_by_open_connection(io& i, const command& what, limit l,
                                                                     std::optional<abandoned_command>* abandoned) {
  const auto is_over = [&] { return i.now() >= l.at() || l.stop().stop_requested(); };
  if (is_over() || !pool_.any_open()) co_return std::nullopt;
  const auto calling = [&] { return is_over() ? std::nullopt : pool_.call_if_open(what, l, abandoned); };
  runtime::queue_thread& where = thread_for_pool();
  std::optional<reply> got = co_await runtime::blocking(i, calling, &where);
  co_return got;
}

/// Its own thread, because connecting may block the other for long; but if it cannot start, that one does both.
runtime::queue_thread& server_transport::thread_for_pool() {
  try {
    pool_calls_.start();
    return pool_calls_;
  } catch (const std::system_error&) {
    return events_.thread();
  }
}

void server_transport::check_clock(const command& what, const reply& got, runtime::instant sent,
                                   runtime::instant received) {
  const value* const said = said_to(what, got);
  const std::size_t at = *what.time_behind();
  if (said == nullptr || said->items.size() <= at || !is_number(said->items[at], 0)) return;
  const auto step = clock_.add({sent, received, std::chrono::microseconds(said->items[at].number)});
  if (step) listener_.warned(dialer_.config().where() + ": " + *step);
}

/// The first call also introduces us, so that a holder can be named even if it never opens the event connection.
reply server_transport::call_by_pool(const command& what, const limit& l, std::optional<abandoned_command>* abandoned) {
  // Read first: a write by every caller would cost all of them.
  if (introduced_.load(std::memory_order_relaxed)) return pool_.call(what, l, abandoned);
  command both = *introduction_;
  both.then(what);
  introduced_ = true;
  reply got = pool_.call(both, l, abandoned);
  if (!std::holds_alternative<value>(got)) introduced_ = false;
  return got;
}

void server_transport::close() noexcept {
  ending_.request_stop();
  if (watch_) watch_->close();
  events_.close();
  tasks_.wait_until_empty();
}

/// Closes connections of the pool that were idle for a while. Ends when all of them are closed.
task<void> server_transport::close_idle() {
  for (;;) {
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), 15s), ending_.get_token()));
    if (why == wake::stopped) co_return;
    closes_idle_ = false;  // a caller that opens one from now on starts another task
    // Claims may have to be renewed over it, and there may be no descriptor for another by then.
    const bool keep_one = !events_.is_open() && listener_.has_claims();
    const bool some_left = pool_.close_idle_since(loop_.now() - 15s, keep_one);
    if (!some_left || closes_idle_.exchange(true)) co_return;
  }
}

}  // namespace holdfast::redis
