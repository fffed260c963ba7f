#include "redis/transport/pooled_connection.hpp"

#include <algorithm>
#include <utility>

#include "net/ready.hpp"
#include "runtime/inline_io.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::later;
using runtime::wake;

namespace {

/// About how long the kernel waits in receive_soon().
constexpr runtime::span a_moment = 6ms;

/// Falls back to a text that needs no memory.
storage::failure broken(const std::exception& e, const dialer& d) noexcept {
  try {
    storage::failure why(errc::unreachable, d.located(e.what()));
    const auto* const by = dynamic_cast<const net::broken*>(&e);
    why.is_late = by != nullptr && by->is_late();
    return why;
  } catch (const std::bad_alloc&) {
    return storage::failure(errc::unreachable, "no memory");
  }
}

}  // namespace

reply pooled_connection::call(const command& what, const limit& l, std::optional<std::uint64_t>& abandoned) {
  slot mine(what);
  bool takes_over = false;
  {
    const std::lock_guard lock(mutex_);
    queue(what, &mine);
    takes_over = !driven_;
    if (takes_over) driven_ = mine.drives = true;
  }
  if (takes_over) return drive(mine, true, l, abandoned);
  if (runtime::wait_here(mine.woken, l) != wake::signalled) {
    {
      const std::lock_guard lock(mutex_);
      if (!mine.got) {
        abandoned = abandon(mine, mine.drives);
        return no_answer();
      }
    }
    (void)runtime::wait_here(mine.woken,
                             limit(runtime::never));  // the thread that brought the reply is about to wake us
  }
  // No other thread uses our slot any more: it has its reply, or it drives.
  if (!mine.got) return drive(mine, false, l, abandoned);
  abandoned = mine.lost_with;
  return std::move(*mine.got);
}

/// Called under the lock.
void pooled_connection::queue(const command& what, slot* whose) {
  if (pipeline_.empty()) silent_since_ = boot_clock::now();
  pipeline_.add(what, whose);
}

/// Sends and receives for all callers until our own reply is there or our limit has passed.
reply pooled_connection::drive(slot& mine, bool found_idle, const limit& l, std::optional<std::uint64_t>& abandoned) {
  try {
    // If it was not idle, other callers wait for replies on this connection; if it is bad, reading fails, and all learn
    // why.
    if (found_idle) replace_if_bad();
    const bool answered = serve(mine, l);
    const std::lock_guard lock(mutex_);
    if (answered) {
      let_another_drive();
      return std::move(*mine.got);
    }
    abandoned = abandon(mine, true);
    return no_answer();
  } catch (const storage::failure& why) {
    const std::lock_guard lock(mutex_);
    if (boot_clock::now() >= l.at() || l.stop().stop_requested()) {  // only our own limit has passed
      abandoned = abandon(mine, true);
      return why;
    }
    fail_all(why);
    abandoned = mine.lost_with;
    return std::move(*mine.got);
  } catch (const std::exception& e) {  // broken, malformed, or no memory
    in_doubt_();
    const std::lock_guard lock(mutex_);
    fail_all(broken(e, dialer_));
    abandoned = mine.lost_with;
    return std::move(*mine.got);
  }
}

/// Returns false if our limit has passed.
bool pooled_connection::serve(const slot& mine, const limit& l) {
  ensure_connected(l);
  for (bool came = false;;) {
    instant silent_since{};
    bool answered = false;
    {
      const std::lock_guard lock(mutex_);
      pipeline_.take_unsent(sending_);
      answered = mine.got.has_value();
      silent_since = silent_since_;
    }
    const bool all_sent = connection_->send(sending_);
    if (answered) return true;
    const instant now = boot_clock::now();
    const instant too_long = later(silent_since, dialer_.config().timeout);
    const instant until = std::min(l.at(), too_long);
    // Checked here too, because messages may arrive without end.
    if (came && (now >= until || l.stop().stop_requested())) return give_up(too_long);
    came = all_sent && now + a_moment < until && connection_->receive_soon();
    if (!came) {
      const limit nearer(until, l.stop());
      const net::readiness why =
          all_sent ? net::wait_readable(connection_->fd(), nearer) : net::wait_writable(connection_->fd(), nearer);
      if (why == net::readiness::stopped) return false;
      if (why == net::readiness::late) return give_up(too_long);
      if (all_sent) came = connection_->receive();
    }
    if (came) hand_out();
  }
}

/// Returns false for serve(). Throws if the server has been silent for too long.
bool pooled_connection::give_up(instant too_long) const {
  if (boot_clock::now() < too_long) return false;
  throw net::broken::late("no answer for " + std::to_string(dialer_.config().timeout.count()) + " ms");
}

void pooled_connection::replace_if_bad() {
  if (!connection_ || still_good()) return;
  hang_up();
  const std::lock_guard lock(mutex_);
  pipeline_.drop_abandoned();
}

void pooled_connection::ensure_connected(const limit& l) {
  if (connection_) return;
  const instant enough = later(boot_clock::now(), dialer_.config().connect_timeout);
  connection_ = dialer_.open(limit(std::min(l.at(), enough), l.stop()));
  const auto closed = [this] {
    gone_ = true;
    in_doubt_();
  };
  loop_.watch(connection_->fd(), closed, runtime::loop::interest::hang_up);
  open_ = true;
  const std::lock_guard lock(mutex_);
  silent_since_ = boot_clock::now();
}

void pooled_connection::hang_up() noexcept {
  open_ = false;
  if (connection_) loop_.unwatch(connection_->fd());
  connection_.reset();
  sending_.clear();
  gone_ = false;
  ++number_;
}

/// A connection that was idle may have been closed by the server, or its last replies never came. This is checked
/// before a command is sent on it.
bool pooled_connection::still_good() {
  const instant now = boot_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(invalid_, std::nullopt) || gone_) return false;
    if (now - used_ < 100ms) return true;
  }
  try {
    if (connection_->receive()) hand_out();
  } catch (const std::exception&) {
    in_doubt_();
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (!pipeline_.starts_abandoned()) silent_since_ = now;
  return now - silent_since_ <= dialer_.config().timeout;
}

/// Gives the replies that have arrived to their waiters.
void pooled_connection::hand_out() {
  // They need the lock, so they are woken when it is free again, also if this throws.
  struct answered_waiters {
    runtime::wait_list<pending_reply> all;
    ~answered_waiters() { all.wake_all(); }
  } answered;
  const std::lock_guard lock(mutex_);
  bool messages = false, replies = false;
  while (std::optional<value> v = connection_->next()) {
    if (v->is(value::kind::push)) {
      messages = true;
      continue;
    }
    replies = true;
    auto* const whose = static_cast<slot*>(pipeline_.take(std::move(*v)));
    if (whose != nullptr && !whose->drives) answered.all.add(*whose);
  }
  // A long reply comes in many parts. A server that sends only messages is silent.
  if (replies || !messages) silent_since_ = boot_clock::now();
}

/// Called under the lock. Returns the number of the connection on which the command stays.
std::uint64_t pooled_connection::abandon(slot& mine, bool drove) {
  const std::uint64_t here = number_;
  pipeline_.abandon(mine);
  if (drove) let_another_drive();
  return here;
}

void pooled_connection::follow(std::uint64_t connection, const command& what) noexcept {
  const std::lock_guard lock(mutex_);
  if (connection != number_ || (!driven_ && !connection_)) return;
  try {
    queue(what, nullptr);
  } catch (const std::bad_alloc&) {
    return;  // what it was to undo ends with its ttl
  }
  if (!driven_) send_unsent();
}

/// Called under the lock. If no caller waits, the next one to come reads what is still due.
void pooled_connection::let_another_drive() {
  used_ = boot_clock::now();
  auto* const next = static_cast<slot*>(pipeline_.first_waiter());
  driven_ = next != nullptr;
  if (!driven_) return send_unsent();
  if (invalid_) {
    const storage::failure why = *std::move(invalid_);
    invalid_.reset();
    return fail_all(why);
  }
  next->drives = true;
  next->woken.set();
}

/// Called under the lock when no caller waits. Commands of callers that have left are sent now or never: the next
/// caller might send them much later.
void pooled_connection::send_unsent() noexcept {
  if (connection_) {
    try {
      pipeline_.take_unsent(sending_);
      (void)connection_->send(sending_);
    } catch (const std::exception&) {
      gone_ = true;  // the next caller opens another
    }
  }
  pipeline_.drop_unsent();
  if (sending_.empty()) return;
  hang_up();  // in the middle of a command
  pipeline_.clear();
}

/// Called under the lock. The outcome of all calls that are due is unknown; the next caller opens a new connection.
void pooled_connection::fail_all(const storage::failure& why) noexcept {
  const std::uint64_t here = number_;
  hang_up();
  driven_ = false;
  pipeline_.fail_all(why, [here](pending_reply& failed, bool was_sent) {
    slot& s = static_cast<slot&>(failed);
    if (was_sent) s.lost_with = here;
    if (!s.drives) s.woken.set();
  });
}

reply pooled_connection::no_answer() const {
  return storage::failure::late(dialer_.located("no answer within the limit"));
}

bool pooled_connection::is_open() const noexcept {
  const std::lock_guard lock(mutex_);
  return open_ && !gone_ && !invalid_;
}

bool pooled_connection::close_if_idle_since(instant then) noexcept {
  const std::lock_guard lock(mutex_);
  if (driven_ || used_ >= then) return false;
  hang_up();
  pipeline_.clear();
  return true;
}

void pooled_connection::invalidate(const storage::failure& why) noexcept {
  const std::lock_guard lock(mutex_);
  invalid_.emplace(copy_of(why));
}

}  // namespace holdfast::redis
