#include "redis/transport/wire.hpp"

#include <system_error>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/step.hpp"
#include "runtime/blocking.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

wire::wire(settings s, const identity& me, runtime::loop& loop, listener& who)
    : loop_(loop),
      listener_(who),
      dialer_(std::move(s)),
      lanes_(dialer_, loop, [&who] { who.in_doubt(storage::no_shard); }),
      main_(dialer_, me, loop, who),
      introduction_(me.introduction),
      introduced_(!me.introduction) {
  if (dialer_.asks() == nullptr) return;
  watch_.emplace(dialer_, loop, who);
  dialer_.asks()->when_moved([this, &who] {
    const storage::failure why(errc::unreachable, "the server is not what it was (" + dialer_.how().where() + ")");
    lanes_.distrust(why);
    main_.start_over(why);
    who.in_doubt(storage::no_shard);
    who.back();
  });
}

void wire::start_watch() {
  if (!watch_ || watches_.load(std::memory_order_relaxed) || watches_.exchange(true)) return;
  watch_->start();
}

task<reply> wire::call(io& i, const command& what, limit l, std::optional<abandoned_command>* abandoned) {
  start_watch();
  const runtime::instant sent = i.now();
  reply got = storage::failure(errc::unreachable, "");
  if (i.in_place()) {
    start();
    got = call_by_lane(what, l, abandoned);
  } else {
    got = co_await call_on_loop(i, what, std::move(l), abandoned);
  }
  const value* const said = std::get_if<value>(&got);
  if (said != nullptr && said->is(value::kind::error) && is_wrong_server(said->text)) {
    const storage::failure why = meaning_of(said->text, dialer_.how().prefix);
    lanes_.distrust(why);
    main_.distrust(why);
  }
  if (what.time_behind()) look_at_clock(what, got, sent, i.now());
  co_return got;
}

/// Before the first grant: what nothing could renew is not to be granted.
void wire::start() {
  if (!can_renew_.load(std::memory_order_relaxed)) {
    main_.start();
    can_renew_ = true;
  }
  if (tidies_.load(std::memory_order_relaxed) || tidies_.exchange(true)) return;
  loop_.start();
  tasks_.spawn(tidy());
}

task<reply> wire::call_on_loop(io& i, const command& what, limit l, std::optional<abandoned_command>* abandoned) {
  if (!main_.listens() && lanes_.any_open()) {
    const bool connects = co_await connect_for_half(i, l);
    std::optional<reply> instead;
    if (!connects) instead = co_await call_by_open_lane(i, what, l, abandoned);
    if (instead) co_return *std::move(instead);
  }
  reply got = co_await main_.call(i, what, std::move(l));
  co_return got;
}

/// Waits for the main line, but leaves time to call without it.
task<bool> wire::connect_for_half(io& i, limit l) {
  if (main_.has_failed()) {
    main_.connect_soon();
    co_return false;
  }
  const runtime::instant now = i.now();
  const runtime::span most = std::min<runtime::span>(l.at() - now, dialer_.how().connect_timeout);
  const limit half(later(now, most / 2), l.stop());
  const std::optional<storage::failure> why_not = co_await main_.listen(i, half);
  co_return !why_not;
}

/// Empty: no lane is open, or the caller's time is over.
task<std::optional<reply>> wire::call_by_open_lane(io& i, const command& what, limit l,
                                                   std::optional<abandoned_command>* abandoned) {
  const auto is_over = [&] { return i.now() >= l.at() || l.stop().stop_requested(); };
  if (is_over() || !lanes_.any_open()) co_return std::nullopt;
  const auto calling = [&] { return is_over() ? std::nullopt : lanes_.call_if_open(what, l, abandoned); };
  runtime::queue_thread& where = thread_for_lanes();
  std::optional<reply> got = co_await runtime::blocking(i, calling, &where);
  co_return got;
}

/// Connecting may take long, so it has another thread; but without another that one does both.
runtime::queue_thread& wire::thread_for_lanes() {
  try {
    lane_calls_.start();
    return lane_calls_;
  } catch (const std::system_error&) {
    return main_.thread();
  }
}

void wire::look_at_clock(const command& what, const reply& got, runtime::instant sent, runtime::instant received) {
  const value* const said = said_to(what, got);
  const std::size_t at = *what.time_behind();
  if (said == nullptr || said->items.size() <= at || !is_number(said->items[at], 0)) return;
  const auto step = clock_.add({sent, received, std::chrono::microseconds(said->items[at].number)});
  if (step) listener_.warned(dialer_.how().where() + ": " + *step);
}

/// The first one says who we are, too: a holder that never needs the main line can be named all the same.
reply wire::call_by_lane(const command& what, const limit& l, std::optional<abandoned_command>* abandoned) {
  // Read first: a write by every caller would cost all of them.
  if (introduced_.load(std::memory_order_relaxed)) return lanes_.call(what, l, abandoned);
  command both = *introduction_;
  both.then(what);
  introduced_ = true;
  reply got = lanes_.call(both, l, abandoned);
  if (!std::holds_alternative<value>(got)) introduced_ = false;
  return got;
}

void wire::close() noexcept {
  ending_.request_stop();
  if (watch_) watch_->close();
  main_.close();
  tasks_.wait_until_empty();
}

/// Closes lanes that nobody has used for a while; ends when all of them are closed.
task<void> wire::tidy() {
  for (;;) {
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), 15s), ending_.get_token()));
    if (why == wake::stopped) co_return;
    tidies_ = false;  // whoever opens one from now on starts another
    // Claims may have to be renewed over it: later there may be no descriptor for another.
    const bool keep_one = !main_.listens() && listener_.has_claims();
    const bool some_left = lanes_.close_idle_since(loop_.now() - 15s, keep_one);
    if (!some_left || tidies_.exchange(true)) co_return;
  }
}

}  // namespace holdfast::redis
