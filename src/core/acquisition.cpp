#include "core/acquisition.hpp"

#include <algorithm>
#include <utility>

#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;

outcome outcome::at_limit(storage::failure why, bool silent, bool needs_answer) {
  const bool is_trouble = !why.is_late || silent || seeded(bug::short_limit_is_trouble);
  return is_trouble || needs_answer ? failed(std::move(why)) : unanswered(std::move(why));
}

acquisition::acquisition(const request& r, span patience, silence& s, bool store_answers)
    : last_(r.one_look && !r.bounded ? runtime::never : r.until.at()),
      patience_(patience),
      one_look_(r.one_look),
      bounded_(r.bounded),
      needs_answer_(r.needs_answer),
      silence_(s),
      store_answers_(store_answers),
      slow_reply_(usual_reply) {}

instant acquisition::on_send(instant now) {
  sent_ = now;
  return reply_due_ = std::min(last_, later(silent_since_.value_or(now), patience_));
}

acquisition::step acquisition::on_answer(storage::answer<storage::grant>& got, instant now, bool stopped) {
  silence_.note(got, now);
  if (!got.is_unknown()) slow_reply_ = std::max(slow_reply_, 4 * (now - sent_));
  if (got.is_yes() && (now < got.value().deadline || seeded(bug::stale_grant))) {
    silent_since_.reset();
    return step::granted;
  }
  may_be_known_ = may_be_known_ || !one_look_ || !got.is_no();
  if (got.is_no()) return on_no(got.who());
  if (seeded(bug::unknown_is_no)) {
    may_be_known_ = false;
    return leave(outcome::busy());
  }
  if (stopped) return leave(outcome::stopped());
  return on_unknown(got.is_yes() ? storage::failure::late("the answer took longer than the ttl") : std::move(got.why()),
                    now);
}

acquisition::step acquisition::on_no(const storage::busy& who) {
  if (silent_since_) {
    error_.answered();
  } else {
    error_.reset();
  }
  silent_since_.reset();
  store_answers_ = true;
  tries_ = 0;
  end_ = outcome::busy(who.holder);
  return one_look_ ? step::leave : step::wait;
}

acquisition::step acquisition::on_unknown(storage::failure failed, instant now) {
  failure_ = error_.after(std::move(failed), now >= reply_due_);
  if (!silent_since_) silent_since_ = sent_;
  unanswered_since_ = silence_.since(*silent_since_);
  out_of_patience_ = failure_->permanent() || now >= later(*silent_since_, patience_);
  return step::unanswered;
}

acquisition::step acquisition::on_unanswered(instant now, span pause) {
  ++tries_;
  pause_ends_ = std::min({last_, later(*silent_since_, patience_), later(now, pause)});
  // One look without a limit of its own lasts until there is an answer.
  const bool looked = one_look_ && (bounded_ || !failure_->is_late);
  return out_of_patience_ || looked || now >= last_ ? leave_unanswered(now) : step::pause;
}

acquisition::step acquisition::on_wakeup(wake why) {
  if (why == wake::signalled) return step::poll;
  return why == wake::stopped ? leave(outcome::stopped()) : step::leave;
}

acquisition::step acquisition::on_pause(wake why, instant now) {
  if (why == wake::stopped) return leave(outcome::stopped());
  return now >= last_ ? leave_unanswered(now) : step::poll;
}

acquisition::step acquisition::on_error(storage::failure why) { return leave(outcome::failed(std::move(why))); }

acquisition::step acquisition::leave_unanswered(instant now) {
  const bool silent = out_of_patience_ || silence_.exceeds(patience_, unanswered_since_, now);
  // The limit ended while a store that had just answered was polled again: it still counts as busy.
  const bool was_busy = store_answers_ && !out_of_patience_ && now - *silent_since_ < slow_reply_;
  if (!was_busy) end_ = outcome::at_limit(*failure_, silent, needs_answer_);
  return step::leave;
}

acquisition::step acquisition::leave(outcome how) {
  end_ = std::move(how);
  return step::leave;
}

}  // namespace holdfast::core
