#include "redis/lock/claim.hpp"

#include <algorithm>
#include <utility>

#include "redis/lock/session.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/slots.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::never;
using runtime::span;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::grant;
using storage::milliseconds;

namespace {

/// The ttl of a grant on behalf of a waiter, which limits how long a waiter that hangs delays the others. The renewer
/// extends it to the full ttl.
constexpr milliseconds claim_ttl = 500ms;

/// A longer remaining ttl of another library's lock counts as this long.
constexpr milliseconds longest_lease = 24h;

bool says_try_again(const reply& r) noexcept {
  const value* const v = std::get_if<value>(&r);
  return v != nullptr && v->is(value::kind::error) && is_try_again(v->text);
}

bool says_busy(const value& v) {
  return v.is(value::kind::list) && v.items.size() == 6 && v.items[0].is(value::kind::integer) &&
         is_number(v.items[1], -1) && is_number(v.items[2], -1) && is_number(v.items[3], 0) &&
         v.items[4].is(value::kind::text) && is_number(v.items[5], 0);
}

span jitter(io& i, milliseconds most) { return span(most) * static_cast<std::int64_t>(i.random() % 1024) / 1024; }

}  // namespace

claim::claim(session& s, storage::claim_spec spec)
    : session_(s),
      lock_(lock_key(s.config.prefix, spec.name)),
      granted_for_(spec.fixed ? spec.ttl : std::min(spec.ttl, claim_ttl)),
      owner_(owner_text(s.id, spec.owner, spec.wants, granted_for_, spec.label)),
      wants_(spec.wants),
      ttl_(spec.ttl),
      queue_(spec.queue),
      barges_(spec.barges),
      bad_name_(!keys::may_be(s.config.prefix, spec.name)),
      slot_(slot_of(lock_)) {
  ++session_.claims;
  waiting_.slot = slot_;
  if (queue_ && !seeded(bug::inbox_after_poll)) session_.waiters.add(owner_, waiting_);
}

claim::~claim() {
  if (queue_) session_.waiters.remove(owner_);
  --session_.claims;
}

task<answer<grant>> claim::poll(io& i, limit l) {
  if (bad_name_) {
    co_return answer<grant>::unknown(keys::refused());
  }
  const std::optional<grant> pushed = take_message(i.now());
  // If replicas must have the grant, only a poll of our own can wait for them.
  if (pushed && !session_.wait.is_wanted()) co_return answer<grant>::yes(*pushed);
  // Messages must reach us before we enter the queue: a waiter that is not subscribed is skipped. There is no need to
  // subscribe if the lock is free.
  if (queue_) waiting_.listened_at = lies_on();  // before the poll, during which the slot may move
  const bool in_queue = queue_ && session_.server->listens(lock_);
  answer<grant> got = co_await ask(i, in_queue, l);
  if (in_queue || !queue_ || !got.is_no()) co_return got;
  const std::optional<storage::failure> deaf = co_await session_.server->listen(i, lock_, l);
  if (deaf) co_return answer<grant>::unknown(*deaf);
  waiting_.listened_at = lies_on();
  answer<grant> again = co_await ask(i, true, l);
  co_return again;
}

// Also wakes up by time: a message may be lost, and an expiry sends none.
task<wake> claim::wakeup(io& i, limit l) {
  const limit nearer(std::min(l.at(), again_at_), l.stop());
  const wake why = co_await wait(i, waiting_.called, nearer);
  co_return why == wake::late&& again_at_ < l.at() ? wake::signalled : why;
}

task<answer<instant>> claim::renew(io& i, milliseconds ttl, limit l) {
  const instant sent = i.now();
  answer<instant> got = co_await renew_as(i, owner_, ttl, sent, l);
  if (!may_be_reader_ || !got.is_no()) co_return got;
  // A downgrade got no reply and may be carried out between the two renewals, hence their order.
  answer<instant> as_one = co_await renew_as(i, as_reader(owner_), ttl, sent, l);
  co_return as_one;
}

task<answer<instant>> claim::downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) {
  const instant sent = i.now();
  const std::string reader = as_reader(owner_);
  const keys k = all_keys();
  command c = call_of(scripts::downgrade, 5, 5);
  add_keys(c, k).add(k.asked).add(owner_).add(ttl.count()).add(session_.inboxes_of(lock_));
  c.add(static_cast<std::int64_t>(fence)).add(reader);
  fence_ = fence;
  may_be_reader_ = true;
  for (;;) {
    reply r = co_await session_.run(i, scripts::downgrade, c, l);
    if (auto why = no_number<instant>(r, "downgrade", session_.config.prefix)) co_return std::move(*why);
    const std::int64_t did = std::get<value>(r).number;
    if (did == 0) co_return answer<instant>::no();
    if ((did & 4) == 0) break;
  }
  if (queue_) session_.waiters.remove(owner_);
  owner_ = reader;
  if (queue_) session_.waiters.add(owner_, waiting_);
  may_be_reader_ = false;
  co_return answer<instant>::yes(storage::deadline_after(sent, ttl));
}

task<answer<done>> claim::release(io& i, limit l) {
  const script& step = mine().release;
  const keys k = all_keys();
  const command c = release_of(step, k, owner_, session_.inboxes_of(lock_));
  undo_abandoned();
  answer<done> got = co_await release_by(i, step, c, l);
  if (!may_be_reader_ || got.is_unknown()) co_return got;
  const std::string reader = as_reader(owner_);
  const command as_one = release_of(scripts::release_shared, k, reader, session_.inboxes_of(lock_));
  answer<done> also = co_await release_by(i, scripts::release_shared, as_one, l);
  co_return got.is_yes() && also.is_no() ? std::move(got) : std::move(also);
}

void claim::undo_abandoned() {
  if (!abandoned_) return;
  const script& step = mine().release;
  session_.server->follow(*abandoned_,
                          load_of(step).then(release_of(step, all_keys(), owner_, session_.inboxes_of(lock_))));
  abandoned_.reset();
}

bool claim::take_revoke_request(const std::string& owner, const reply& r) {
  const value* const v = std::get_if<value>(&r);
  if (v == nullptr || !v->is(value::kind::text)) return false;
  const std::optional<message> asks = message::of_renewal(owner, v->text);
  if (asks) session_.notify_holder(*asks);
  return asks.has_value();
}

storage::shard claim::lies_on() const noexcept { return session_.server->shard_of(slot_); }

keys claim::all_keys() const { return keys::of_lock(session_.config.prefix, lock_); }

std::optional<grant> claim::take_message(instant now) {
  const auto pushed = waiting_.granted.with([](auto& last) { return std::exchange(last, {}); });
  if (!pushed || !sampled_) return std::nullopt;
  // A grant from before that reply has ended. Only fences can tell if the server's clock was set back meanwhile.
  if (pushed->fence <= sampled_->fence) return std::nullopt;
  // When the server replied to our last poll, its clock showed sampled_->server_time and ours at least sampled_->sent,
  // so the grant is not older than that. After a move of the slot or a failover it may have been another server's
  // clock.
  const bool one_clock = session_.config.of_one_clock();
  const auto elapsed = std::chrono::microseconds(one_clock ? pushed->server_time - sampled_->server_time : 0);
  const instant granted_at = seeded(bug::deadline_from_push) ? now : sampled_->sent + span(elapsed) / 100 * 99;
  if (elapsed < 0us || granted_at > now) return std::nullopt;  // the server's clock was set
  const milliseconds granted_for = seeded(bug::claim_ttl_forgotten) ? ttl_ : granted_for_;
  const instant deadline = storage::deadline_after(granted_at, granted_for);
  if (now + span(granted_for) / 4 > deadline) return std::nullopt;  // the message has waited for too long
  fence_ = pushed->fence;
  return grant{fence_, fences(), deadline};
}

const claim_scripts& claim::mine() const noexcept {
  return barges_ && wants_in(owner_) == '-' ? unfair_scripts : scripts_for(wants_in(owner_));
}

task<answer<instant>> claim::renew_as(io& i, std::string owner, milliseconds ttl, instant sent, limit l) {
  const claim_scripts& step = scripts_for(wants_in(owner));
  const bool whole = &step == &exclusive_scripts;
  const bool reads = &step == &reader_scripts;
  const keys k = all_keys();
  const bool keeps_fence = whole && upkeep_.is_due(sent, ttl);
  command c = call_of(step.renew, 3, keeps_fence ? 4 : whole || reads ? 3 : 2);
  c.add(k.lock);
  if (!whole) c.add(k.holders);
  c.add(k.asked);
  if (whole) c.add(k.fence);
  c.add(owner).add(ttl.count());
  if (whole || reads) c.add(static_cast<std::int64_t>(fence_));
  if (keeps_fence) c.add("day");
  reply r = co_await session_.run(i, step.renew, c, l);
  if (whole && says_try_again(r)) {
    // The slot is migrating. Neither node runs a script if it lacks one of its keys, but the node that has K runs one
    // with K alone.
    command alone = call_of(step.renew, 1, 2);
    alone.add(k.lock).add(owner).add(ttl.count());
    r = co_await session_.run(i, step.renew, alone, l);
  }
  if (!take_revoke_request(owner, r)) {
    if (auto why = no_number<instant>(r, "renew", session_.config.prefix)) co_return std::move(*why);
    const std::int64_t did = std::get<value>(r).number;
    if (did == 2) {  // only the server knows of that grant
      const command back = release_of(mine().release, k, owner, session_.inboxes_of(lock_));
      answer<done> gone = co_await release_by(i, mine().release, back, l);
      (void)gone;  // without a reply it expires
    }
    if (did != 1) co_return answer<instant>::no();
  }
  co_return answer<instant>::yes(storage::deadline_after(sent, ttl));
}

task<answer<done>> claim::release_by(io& i, const script& step, const command& c, limit l) {
  bool was_there = false;
  for (;;) {
    reply r = co_await session_.run(i, step, c, l);
    if (auto why = no_number<done>(r, "release", session_.config.prefix)) {
      if (was_there) break;
      session_.leave_to_server(i, step, c, l);
      co_return std::move(*why);
    }
    const std::int64_t did = std::get<value>(r).number;
    was_there = was_there || (did & 3) != 0;
    if ((did & 4) == 0) break;
  }
  if (!was_there) co_return answer<done>::no();
  co_return answer<done>::yes(done());
}

task<answer<grant>> claim::ask(io& i, bool in_queue, limit l) {
  const instant sent = i.now();
  const script& step = mine().acquire;
  command c = call_of(step, 4, wants_.of_a_lock() && !barges_ ? 4 : 5);
  c.tells_time_behind(3);
  const keys k = all_keys();
  add_keys(c, k).add(owner_).add(ttl_.count()).add(session_.inboxes_of(lock_));
  if (!in_queue) {
    c.add("-");
  } else if (ticket_ == 0) {
    c.add("");
  } else {
    c.add(ticket_);
  }
  if (!wants_.of_a_lock()) {
    c.add(static_cast<std::int64_t>(wants_.whole));
  } else if (barges_) {
    c.add("barge");
  }
  std::optional<storage::failure> missing;
  reply r = co_await session_.run_grant(i, step, c, std::move(l), &abandoned_, missing);
  if (seeded(bug::inbox_after_poll) && queue_) session_.waiters.add(owner_, waiting_);
  if (auto why = failed<grant>(r, session_.config.prefix)) co_return std::move(*why);
  const value& v = std::get<value>(r);
  if (is_number(v, 1)) {
    if (missing) co_return answer<grant>::unknown(std::move(*missing));
    const instant from = seeded(bug::deadline_from_reply) ? i.now() : sent;
    fence_ = static_cast<std::uint64_t>(v.number);
    const grant g{fence_, fences(), storage::deadline_after(from, ttl_)};
    co_return answer<grant>::yes(g);
  }
  if (!says_busy(v)) co_return answer<grant>::unknown(malformed_reply("acquire"));
  co_return busy(i, sent, v, in_queue);
}

answer<grant> claim::busy(io& i, instant sent, const value& v, bool in_queue) {
  const milliseconds left = std::min(milliseconds(v.items[0].number), longest_lease);  // negative: no ttl
  const std::int64_t ahead = std::clamp<std::int64_t>(v.items[2].number, 0, 100'000);
  const std::string_view holder = v.items[4].text;
  const instant from = seeded(bug::sample_from_reply) ? i.now() : sent;
  sampled_ = sample{from, v.items[3].number, static_cast<std::uint64_t>(v.items[5].number)};
  if (in_queue) ticket_ = v.items[1].number;
  const bool readers = holder.starts_with('+');  // all readers have left, and K is about to expire
  const std::optional<std::string_view> label = readers ? std::string_view() : label_in(holder);
  if (holder.empty()) {
    again_at_ = sent;  // the script stopped at its bound and has to be called again
  } else if (label) {
    // Every waiter before us may hang, and then keeps the lock for a claim ttl. One millisecond more, because a key
    // with 0 ms left still exists.
    const milliseconds at_most = claim_ttl * (ahead + 1);
    again_at_ = later(sent, span(left < 0ms ? at_most : std::min(left, at_most)) + 1ms + jitter(i, 2ms));
  } else {
    // Another library holds the lock and sends no message.
    const span pause = span(session_.config.poll) + varied(i, session_.config.poll);
    again_at_ = later(sent, left < 0ms ? pause : std::min<span>(pause, left + 1ms));
  }
  if (seeded(bug::no_timer)) again_at_ = never;
  return answer<grant>::no({label ? std::string(*label) : std::string(holder.empty() ? "" : "another library")});
}

span claim::varied(io& i, milliseconds interval) const {
  const double where = static_cast<double>(i.random() % 2049) / 1024 - 1;  // -1 to 1
  return span(static_cast<span::rep>(static_cast<double>(span(interval).count()) * where * session_.config.jitter));
}

}  // namespace holdfast::redis
