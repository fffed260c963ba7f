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
    if (due_.empty()) silent_since_ = boot_clock::now();
    const std::size_t before = due_.size();
    queue(what);
    std::fill(due_.end() - static_cast<std::ptrdiff_t>(mine.due()), due_.end(), &mine);
    nobody_drives = !driven_;
    if (nobody_drives) {
      driven_ = mine.drives = true;
      left_over_ = before;
    }
  }
  if (nobody_drives) return drive(mine, true, l, left);
  if (runtime::wait_here(mine.called, l) != wake::signalled) {
    {
      const std::lock_guard lock(mutex_);
      if (!mine.got) {
        left = leave(mine, mine.drives);
        return no_answer();
      }
    }
    (void)runtime::wait_here(mine.called, limit(runtime::never));  // whoever brings the reply is about to call us
  }
  // Nobody touches our slot any more: we have our reply, or it is we who drive.
  if (!mine.got) return drive(mine, false, l, left);
  left = mine.lost_with;
  return std::move(*mine.got);
}

/// Under the lock. For want of memory it throws, and has done nothing.
void lane::queue(const command& what) {
  const std::size_t before = due_.size();
  due_.insert(due_.end(), what.replies(), nullptr);
  try {
    ready_.append(what.bytes());
  } catch (const std::bad_alloc&) {
    due_.resize(before);
    throw;
  }
  unsent_ += what.replies();
}

lane::to_be_called::~to_be_called() {
  for (slot* s = first_; s != nullptr;) {
    slot* const next = s->next;  // it may be gone once it is called
    s->called.set();
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
      if (sending_.empty()) {
        sending_.swap(ready_);
      } else {
        sending_.append(ready_);
        ready_.clear();
      }
      unsent_ = 0;
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
  due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(left_over_));
  left_over_ = 0;
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
  if (left_over_ == 0) silent_since_ = now;
  return now - silent_since_ <= dialer_.how().timeout;
}

/// Gives what came to whom it belongs.
void lane::hand_out() {
  to_be_called answered;
  const std::lock_guard lock(mutex_);
  bool messages = false;
  while (std::optional<value> v = connection_->next()) {
    messages = messages || v->is(value::kind::push);
    if (v->is(value::kind::push)) continue;
    if (due_.empty()) throw malformed("a reply that nobody asked for");
    slot* const whose = due_.front();
    due_.pop_front();
    if (left_over_ != 0) --left_over_;
    silent_since_ = boot_clock::now();
    if (whose == nullptr || !whose->take(std::move(*v))) continue;
    if (!whose->drives) answered.add(*whose);
  }
  if (!messages) silent_since_ = boot_clock::now();  // a long reply comes in many parts
}

/// Under the lock. Its reply will be read and dropped in its turn. On which connection, that is.
std::uint64_t lane::leave(slot& mine, bool drove) {
  const std::uint64_t here = number_;
  std::replace(due_.begin(), due_.end(), &mine, static_cast<slot*>(nullptr));
  if (drove) let_another_drive();
  return here;
}

void lane::follow(std::uint64_t connection, const command& what) noexcept {
  const std::lock_guard lock(mutex_);
  if (connection != number_ || (!driven_ && !connection_)) return;
  try {
    queue(what);
  } catch (const std::bad_alloc&) {
    return;  // the ttl takes care of what it was to undo
  }
  if (!driven_) send_what_is_left();
}

/// Under the lock. If nobody is left, the next caller reads what is due first.
void lane::let_another_drive() {
  used_ = boot_clock::now();
  const auto next = std::find_if(due_.begin(), due_.end(), [](const slot* s) { return s != nullptr; });
  driven_ = next != due_.end();
  if (!driven_) return send_what_is_left();
  left_over_ = 0;
  if (distrusted_) {
    const storage::failure why = *std::move(distrusted_);
    distrusted_.reset();
    return fail_all(why);
  }
  (*next)->drives = true;
  (*next)->called.set();
}

/// Under the lock, when nobody waits. What callers have left here is sent now, or never: whoever comes next would send
/// it long after they have gone.
void lane::send_what_is_left() noexcept {
  if (connection_) {
    try {
      sending_.append(ready_);
      (void)connection_->send(sending_);
    } catch (const std::exception&) {
      gone_ = true;  // the next caller opens another
    }
  } else {
    due_.erase(due_.end() - static_cast<std::ptrdiff_t>(unsent_), due_.end());
  }
  ready_.clear();
  unsent_ = 0;
  if (sending_.empty()) return;
  hang_up();  // in the middle of a command
  due_.clear();
}

/// Under the lock. What was due is not known; the next caller opens a new connection.
void lane::fail_all(const storage::failure& why) noexcept {
  const std::uint64_t here = number_;
  hang_up();
  ready_.clear();
  driven_ = false;
  for (; !due_.empty(); due_.pop_front()) {
    slot* const s = due_.front();
    const bool more_of_it = due_.size() > 1 && due_[1] == s;  // it is gone once it is called
    if (s == nullptr || more_of_it) continue;
    if (due_.size() > unsent_) s->lost_with = here;
    s->got = copy_of(why);
    if (!s->drives) s->called.set();
  }
  unsent_ = 0;
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
  due_.clear();  // nobody waits
  return true;
}

void lane::distrust(const storage::failure& why) noexcept {
  const std::lock_guard lock(mutex_);
  distrusted_.emplace(copy_of(why));
}

}  // namespace holdfast::redis
