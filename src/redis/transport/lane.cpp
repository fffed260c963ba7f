#include "redis/transport/lane.hpp"

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

/// The kernel waits for about so long in receive_soon().
constexpr runtime::span a_moment = 6ms;

/// Where there is no memory for the words, there are fewer: these fit into the string itself.
storage::failure broken(const std::exception& e, const dialer& d) noexcept {
  try {
    storage::failure why(errc::unreachable, std::string(e.what()) + " (" + d.how().where() + ")");
    const auto* const by = dynamic_cast<const net::broken*>(&e);
    why.is_late = by != nullptr && by->is_late();
    return why;
  } catch (const std::bad_alloc&) {
    return storage::failure(errc::unreachable, "no memory");
  }
}

}  // namespace

reply lane::call(const command& what, const limit& l, std::optional<std::uint64_t>& left) {
  slot mine(what);
  bool nobody_drives = false;
  {
    const std::lock_guard lock(mutex_);
    queue(what, &mine);
    nobody_drives = !driven_;
    if (nobody_drives) driven_ = mine.drives = true;
  }
  if (nobody_drives) return drive(mine, true, l, left);
  if (runtime::wait_here(mine.ready, l) != wake::signalled) {
    {
      const std::lock_guard lock(mutex_);
      if (!mine.got) {
        left = leave(mine, mine.drives);
        return no_answer();
      }
    }
    (void)runtime::wait_here(mine.ready, limit(runtime::never));  // whoever brings the reply is about to call us
  }
  // Nobody touches our slot any more: we have our reply, or it is we who drive.
  if (!mine.got) return drive(mine, false, l, left);
  left = mine.lost_with;
  return std::move(*mine.got);
}

/// Under the lock.
void lane::queue(const command& what, slot* whose) {
  if (pipeline_.empty()) silent_since_ = boot_clock::now();
  pipeline_.add(what, whose);
}

lane::to_be_called::~to_be_called() {
  for (slot* s = first_; s != nullptr;) {
    slot* const next = s->next;  // it may be gone once it is called
    s->ready.set();
    s = next;
  }
}

void lane::to_be_called::add(slot& s) noexcept {
  *last_ = &s;
  last_ = &s.next;
}

/// Sends and receives for all, until our own reply is there or our time is over.
reply lane::drive(slot& mine, bool found_idle, const limit& l, std::optional<std::uint64_t>& left) {
  try {
    // Else replies of this connection are due to callers who wait: if it is bad, whoever reads finds out, and tells
    // all.
    if (found_idle) replace_if_bad();
    const bool answered = serve(mine, l);
    const std::lock_guard lock(mutex_);
    if (answered) {
      let_another_drive();
      return std::move(*mine.got);
    }
    left = leave(mine, true);
    return no_answer();
  } catch (const storage::failure& why) {
    const std::lock_guard lock(mutex_);
    if (boot_clock::now() >= l.at() || l.stop().stop_requested()) {  // it is our time that is over, not the others'
      left = leave(mine, true);
      return why;
    }
    fail_all(why);
    left = mine.lost_with;
    return std::move(*mine.got);
  } catch (const std::exception& e) {  // broken, malformed, or no memory
    in_doubt_();
    const std::lock_guard lock(mutex_);
    fail_all(broken(e, dialer_));
    left = mine.lost_with;
    return std::move(*mine.got);
  }
}

/// False: our time is over.
bool lane::serve(const slot& mine, const limit& l) {
  make_sure_of_connection(l);
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
    const instant too_long = later(silent_since, dialer_.how().timeout);
    const instant until = std::min(l.at(), too_long);
    // Messages may come without end.
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

/// Returns false: our time is over. Throws if the server has been silent for too long.
bool lane::give_up(instant too_long) const {
  if (boot_clock::now() < too_long) return false;
  throw net::broken::late("no answer for " + std::to_string(dialer_.how().timeout.count()) + " ms");
}

void lane::replace_if_bad() {
  if (!connection_ || still_good()) return;
  hang_up();
  const std::lock_guard lock(mutex_);
  pipeline_.drop_abandoned();
}

void lane::make_sure_of_connection(const limit& l) {
  if (connection_) return;
  const instant enough = later(boot_clock::now(), dialer_.how().connect_timeout);
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

void lane::hang_up() noexcept {
  open_ = false;
  if (connection_) loop_.unwatch(connection_->fd());
  connection_.reset();
  sending_.clear();
  gone_ = false;
  ++number_;
}

/// What was idle for a while may have been closed by the server meanwhile, or owe replies that never come: better seen
/// before than after.
bool lane::still_good() {
  const instant now = boot_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(distrusted_, std::nullopt) || gone_) return false;
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
  return now - silent_since_ <= dialer_.how().timeout;
}

/// Gives what came to whom it belongs.
void lane::hand_out() {
  to_be_called answered;
  const std::lock_guard lock(mutex_);
  bool messages = false, replies = false;
  while (std::optional<value> v = connection_->next()) {
    const bool is_message = v->is(value::kind::push);
    (is_message ? messages : replies) = true;
    if (is_message) continue;
    auto* const whose = static_cast<slot*>(pipeline_.take(std::move(*v)));
    if (whose != nullptr && !whose->drives) answered.add(*whose);
  }
  // A long reply comes in many parts. A server that sends messages only is silent.
  if (replies || !messages) silent_since_ = boot_clock::now();
}

/// Under the lock. Its reply will be read and dropped in its turn. On which connection, that is.
std::uint64_t lane::leave(slot& mine, bool drove) {
  const std::uint64_t here = number_;
  pipeline_.abandon(mine);
  if (drove) let_another_drive();
  return here;
}

void lane::follow(std::uint64_t connection, const command& what) noexcept {
  const std::lock_guard lock(mutex_);
  if (connection != number_ || (!driven_ && !connection_)) return;
  try {
    queue(what, nullptr);
  } catch (const std::bad_alloc&) {
    return;  // the ttl takes care of what it was to undo
  }
  if (!driven_) send_what_is_left();
}

/// Under the lock. If nobody is left, the next caller reads what is due first.
void lane::let_another_drive() {
  used_ = boot_clock::now();
  auto* const next = static_cast<slot*>(pipeline_.first_waiter());
  driven_ = next != nullptr;
  if (!driven_) return send_what_is_left();
  if (distrusted_) {
    const storage::failure why = *std::move(distrusted_);
    distrusted_.reset();
    return fail_all(why);
  }
  next->drives = true;
  next->ready.set();
}

/// Under the lock, when nobody waits. What callers have left here is sent now, or never: whoever comes next would send
/// it long after they have gone.
void lane::send_what_is_left() noexcept {
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

/// Under the lock. What was due is not known; the next caller opens a new connection.
void lane::fail_all(const storage::failure& why) noexcept {
  const std::uint64_t here = number_;
  hang_up();
  driven_ = false;
  pipeline_.fail_all(why, [here](pending_reply& failed, bool was_sent) {
    slot& s = static_cast<slot&>(failed);
    if (was_sent) s.lost_with = here;
    if (!s.drives) s.ready.set();
  });
}

reply lane::no_answer() const {
  return storage::failure::late("no answer within the limit (" + dialer_.how().where() + ")");
}

bool lane::is_open() const noexcept {
  const std::lock_guard lock(mutex_);
  return open_ && !gone_ && !distrusted_;
}

bool lane::close_if_idle_since(instant then) noexcept {
  const std::lock_guard lock(mutex_);
  if (driven_ || used_ >= then) return false;
  hang_up();
  pipeline_.clear();
  return true;
}

void lane::distrust(const storage::failure& why) noexcept {
  const std::lock_guard lock(mutex_);
  distrusted_.emplace(copy_of(why));
}

}  // namespace holdfast::redis
