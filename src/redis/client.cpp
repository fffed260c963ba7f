#include "redis/client.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "planted.hpp"
#include "redis/cell.hpp"
#include "redis/cluster.hpp"
#include "redis/error_reply.hpp"
#include "redis/examination.hpp"
#include "redis/fence_upkeep.hpp"
#include "redis/keys.hpp"
#include "redis/owner.hpp"
#include "redis/slots.hpp"
#include "redis/step.hpp"
#include "redis/wire.hpp"
#include "runtime/random.hpp"
#include "store/bundle.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::never;
using runtime::span;
using runtime::task;
using runtime::wake;
using seam::answer;
using seam::done;
using seam::grant;

/// A grant on a waiter's behalf lasts for so long: a waiter that stands still keeps the others waiting no longer. The
/// keeper renews it to its full ttl.
constexpr milliseconds claim_ttl = 500ms;

/// Of what is left of another library's lock more than that is as good as that.
constexpr milliseconds longest = 24h;

/// Of several replies the first is that of the script.
bool is_missing_script(const reply& r, const command& c) noexcept {
  const value* v = std::get_if<value>(&r);
  if (v != nullptr && c.wanted() > 1 && !v->items.empty()) v = v->items.data();
  return v != nullptr && v->is(value::kind::error) && is_noscript(v->text);
}

bool says_try_again(const reply& r) noexcept {
  const value* const v = std::get_if<value>(&r);
  return v != nullptr && v->is(value::kind::error) && is_try_again(v->text);
}

command load_of(const script& s) {
  command c(3);
  c.add("SCRIPT").add("LOAD").add(s.text);
  return c;
}

/// The steps that a claim takes, by what it wants.
struct steps {
  const script& acquire;
  const script& release;
  const script& renew;
};
constexpr steps of_writers{scripts::acquire, scripts::release, scripts::renew};
constexpr steps of_bargers{scripts::acquire, scripts::release_barging, scripts::renew};
constexpr steps of_readers{scripts::acquire_shared, scripts::release_shared, scripts::renew_shared};
constexpr steps of_permits{scripts::take, scripts::give, scripts::renew_permits};

const steps& steps_of(char wants) noexcept {
  return wants == '+' ? of_readers : wants == ':' ? of_permits : of_writers;
}

command& add_keys(command& c, const keys& k) { return c.add(k.lock).add(k.queue).add(k.fence).add(k.holders); }

command release_of(const script& s, const keys& k, std::string_view owner, std::string_view inboxes) {
  command c = call_of(s, 4, 2);
  add_keys(c, k).add(owner).add(inboxes);
  return c;
}

/// Host, process id and program, a line each, for a day.
command introduction(std::string_view prefix, std::string_view id) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string lines =
      std::string(host) + "\n" + std::to_string(::getpid()) + "\n" + program_invocation_short_name;
  command c(5);
  c.add("SET").key_follows().add(client_record(prefix, id)).add(lines).add("EX").add("86400");
  return c;
}

}  // namespace

class client::place final : public seam::claim {
 public:
  place(client& c, seam::claim_spec spec)
      : client_(c),
        lock_(keys(c.settings_.prefix, spec.name).lock),
        granted_for_(spec.fixed ? spec.ttl : std::min(spec.ttl, claim_ttl)),
        owner_(owner_text(c.id_, spec.owner, spec.wants, granted_for_, spec.label)),
        wants_(spec.wants),
        ttl_(spec.ttl),
        queue_(spec.queue),
        barges_(spec.barges),
        bad_name_(!keys::may_be(c.settings_.prefix, spec.name)) {
    if (queue_ && !planted(bug::inbox_after_poll)) client_.inbox_.add(owner_, waiting_);
  }
  ~place() override {
    if (queue_) client_.inbox_.remove(owner_);
  }

  task<answer<grant>> poll(io& i, limit l) override {
    if (bad_name_) {
      co_return answer<grant>::unknown(keys::refused());
    }
    const std::optional<grant> told = told_by_push(i.now());
    // Where replicas must have it, only a step of our own can be waited for.
    if (told && !client_.wait_.is_wanted()) co_return answer<grant>::yes(*told);
    // Messages must reach us before we stand in the queue: whoever hears nothing is skipped. If the lock is free,
    // there is no need to listen.
    const bool in_queue = queue_ && client_.link_->listens(lock_);
    answer<grant> got = co_await ask(i, in_queue, l);
    if (in_queue || !queue_ || !got.is_no()) co_return got;
    const std::optional<seam::failure> deaf = co_await client_.link_->listen(i, lock_, l);
    if (deaf) co_return answer<grant>::unknown(*deaf);
    answer<grant> again = co_await ask(i, true, l);
    co_return again;
  }

  // A message may get lost, and an expiry sends none.
  task<wake> wakeup(io& i, limit l) override {
    const limit nearer(std::min(l.at(), again_at_), l.stop());
    const wake why = co_await wait(i, waiting_.called, nearer);
    co_return why == wake::late&& again_at_ < l.at() ? wake::signalled : why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    const instant sent = i.now();
    answer<instant> got = co_await renew_as(i, owner_, ttl, sent, l);
    if (!may_be_reader_ || !got.is_no()) co_return got;
    // A downgrade got no answer. In this order: it may be carried out in between.
    answer<instant> as_one = co_await renew_as(i, as_reader(owner_), ttl, sent, l);
    co_return as_one;
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    const instant sent = i.now();
    const std::string reader = as_reader(owner_);
    const keys k = all_keys();
    command c = call_of(scripts::downgrade, 5, 5);
    add_keys(c, k).add(k.asked).add(owner_).add(ttl.count()).add(client_.inboxes_of(lock_));
    c.add(static_cast<std::int64_t>(fence)).add(reader);
    fence_ = fence;
    may_be_reader_ = true;
    std::optional<left_behind> nobody_minds;  // it never creates
    for (;;) {
      reply r = co_await client_.run(i, scripts::downgrade, c, l, nobody_minds);
      if (auto why = no_number<instant>(r, "downgrade", client_.settings_.prefix)) co_return std::move(*why);
      const std::int64_t did = std::get<value>(r).number;
      if (did == 0) co_return answer<instant>::no();
      if ((did & 4) == 0) break;
    }
    if (queue_) client_.inbox_.remove(owner_);
    owner_ = reader;
    if (queue_) client_.inbox_.add(owner_, waiting_);
    may_be_reader_ = false;
    co_return answer<instant>::yes(seam::deadline_after(sent, ttl));
  }

  task<answer<done>> release(io& i, limit l) override {
    const script& step = mine().release;
    const keys k = all_keys();
    const command c = release_of(step, k, owner_, client_.inboxes_of(lock_));
    chase_what_was_left();
    answer<done> got = co_await release_by(i, step, c, l);
    if (!may_be_reader_ || got.is_unknown()) co_return got;
    const std::string reader = as_reader(owner_);
    const command as_one = release_of(scripts::release_shared, k, reader, client_.inboxes_of(lock_));
    answer<done> also = co_await release_by(i, scripts::release_shared, as_one, l);
    co_return got.is_yes() && also.is_no() ? std::move(got) : std::move(also);
  }

  /// A poll that nobody waited for may be carried out after a release, and would take the lock for nobody.
  void chase_what_was_left() {
    if (!left_) return;
    const script& step = mine().release;
    client_.link_->follow(*left_, load_of(step).then(release_of(step, all_keys(), owner_, client_.inboxes_of(lock_))));
    left_.reset();
  }
  /// It was renewed, and the server has something to tell us.
  bool asked_to_let_go(const std::string& owner, const reply& r) {
    const value* const v = std::get_if<value>(&r);
    if (v == nullptr || !v->is(value::kind::text)) return false;
    const std::optional<plea> asks = plea::of_renewal(owner, v->text);
    if (asks) client_.tell(*asks);
    return asks.has_value();
  }

  [[nodiscard]] const std::string& owner() const noexcept { return owner_; }
  [[nodiscard]] bool has_bad_name() const noexcept { return bad_name_; }
  [[nodiscard]] keys all_keys() const { return keys::of_lock(client_.settings_.prefix, lock_); }

 private:
  /// Whoever released the lock has given it to us, and said so: no need to ask. Nothing: ask.
  std::optional<grant> told_by_push(instant now) {
    const auto told = waiting_.granted.with([](auto& last) { return std::exchange(last, {}); });
    if (!told || !sampled_) return std::nullopt;
    // Older than that answer: it was granted, and is over. Clocks cannot tell, if the server's was set back meanwhile.
    if (told->fence <= sampled_->fence) return std::nullopt;
    // When our last poll was answered, the server's clock showed sampled_->server_time, and ours at least
    // sampled_->sent: the grant is not older than that.
    // In a cluster it may have been another one's clock, if the slot has moved since.
    const bool one_clock = !client_.settings_.of_a_cluster();
    const auto elapsed = std::chrono::microseconds(one_clock ? told->server_time - sampled_->server_time : 0);
    const instant granted_at = planted(bug::deadline_from_push) ? now : sampled_->sent + span(elapsed) / 100 * 99;
    if (elapsed < 0us || granted_at > now) return std::nullopt;  // the server's clock was set
    const milliseconds granted_for = planted(bug::claim_ttl_forgotten) ? ttl_ : granted_for_;
    const instant deadline = seam::deadline_after(granted_at, granted_for);
    if (now + span(granted_for) / 4 > deadline) return std::nullopt;  // it has waited for us for long
    fence_ = told->fence;
    return grant{fence_, fences(), deadline};
  }

  [[nodiscard]] const steps& mine() const noexcept {
    return barges_ && wants_in(owner_) == '-' ? of_bargers : steps_of(wants_in(owner_));
  }

  task<answer<instant>> renew_as(io& i, std::string owner, milliseconds ttl, instant sent, limit l) {
    const steps& step = steps_of(wants_in(owner));
    const bool whole = &step == &of_writers;
    const bool reads = &step == &of_readers;
    const keys k = all_keys();
    const bool keeps_fence = whole && upkeep_.is_due(sent, ttl);
    command c = call_of(step.renew, whole && !keeps_fence ? 2 : 3, reads ? 3 : 2);
    c.add(k.lock);
    if (!whole) c.add(k.holders);
    c.add(k.asked);
    if (keeps_fence) c.add(k.fence);
    c.add(owner).add(ttl.count());
    if (reads) c.add(static_cast<std::int64_t>(fence_));
    std::optional<left_behind> nobody_minds;  // it never creates
    reply r = co_await client_.run(i, step.renew, c, l, nobody_minds);
    if (whole && says_try_again(r)) {
      // The slot is on its way to another node. Until it is there, keys that do not exist are at neither; but K is.
      command alone = call_of(step.renew, 1, 2);
      alone.add(k.lock).add(owner).add(ttl.count());
      r = co_await client_.run(i, step.renew, alone, l, nobody_minds);
    }
    if (!asked_to_let_go(owner, r)) {
      if (auto why = no_number<instant>(r, "renew", client_.settings_.prefix)) co_return std::move(*why);
      if (std::get<value>(r).number == 0) co_return answer<instant>::no();
    }
    co_return answer<instant>::yes(seam::deadline_after(sent, ttl));
  }

  task<answer<done>> release_by(io& i, const script& step, const command& c, limit l) {
    std::optional<left_behind> nobody_minds;
    bool was_there = false;
    for (;;) {
      reply r = co_await client_.run(i, step, c, l, nobody_minds);
      if (auto why = no_number<done>(r, "release", client_.settings_.prefix)) {
        if (was_there) break;
        client_.leave_it_to_the_server(i, step, c, l);
        co_return std::move(*why);
      }
      const std::int64_t did = std::get<value>(r).number;
      was_there = was_there || (did & 3) != 0;
      if ((did & 4) == 0) break;
    }
    if (!was_there) co_return answer<done>::no();
    co_return answer<done>::yes(done());
  }

  task<answer<grant>> ask(io& i, bool in_queue, limit l) {
    const instant sent = i.now();
    const script& step = mine().acquire;
    command c = call_of(step, 4, wants_.of_a_lock() && !barges_ ? 4 : 5);
    const keys k = all_keys();
    add_keys(c, k).add(owner_).add(ttl_.count()).add(client_.inboxes_of(lock_));
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
    std::optional<seam::failure> missing;
    reply r = co_await client_.run_grant(i, step, c, std::move(l), left_, missing);
    if (planted(bug::inbox_after_poll) && queue_) client_.inbox_.add(owner_, waiting_);
    if (auto why = failed<grant>(r, client_.settings_.prefix)) co_return std::move(*why);
    const value& v = std::get<value>(r);
    if (is_number(v, 1)) {
      if (missing) co_return answer<grant>::unknown(std::move(*missing));
      const instant from = planted(bug::deadline_from_reply) ? i.now() : sent;
      fence_ = static_cast<std::uint64_t>(v.number);
      const grant g{fence_, fences(), seam::deadline_after(from, ttl_)};
      co_return answer<grant>::yes(g);
    }
    if (!says_busy(v)) co_return answer<grant>::unknown(strange("acquire"));
    co_return busy(i, sent, v, in_queue);
  }

  static bool says_busy(const value& v) {
    return v.is(value::kind::list) && v.items.size() == 6 && v.items[0].is(value::kind::integer) &&
           is_number(v.items[1], -1) && is_number(v.items[2], -1) && is_number(v.items[3], 0) &&
           v.items[4].is(value::kind::text) && is_number(v.items[5], 0);
  }

  answer<grant> busy(io& i, instant sent, const value& v, bool in_queue) {
    const milliseconds left = std::min(milliseconds(v.items[0].number), longest);  // less than none: for ever
    const std::int64_t ahead = std::clamp<std::int64_t>(v.items[2].number, 0, 100'000);
    const std::string_view holder = v.items[4].text;
    if (!client_.settings_.of_a_cluster()) {  // each node of which has a clock of its own
      const auto step = client_.clock_.add({sent, i.now(), std::chrono::microseconds(v.items[3].number)});
      if (step && client_.warn_) client_.warn_(*step);
    }
    const instant from = planted(bug::sample_from_reply) ? i.now() : sent;
    sampled_ = sample{from, v.items[3].number, static_cast<std::uint64_t>(v.items[5].number)};
    if (in_queue) ticket_ = v.items[1].number;
    const bool readers = holder.starts_with('+');  // none of them is there any more, and K is about to go
    const std::optional<std::string_view> label = readers ? std::string_view() : label_in(holder);
    if (holder.empty()) {
      again_at_ = sent;  // a script has stopped at its bound: there is more to do
    } else if (label) {
      // Every waiter before us may stand still, and then keeps the lock for a claim ttl. A millisecond more: a key
      // lives through its last one.
      const milliseconds at_most = claim_ttl * (ahead + 1);
      again_at_ = later(sent, span(left < 0ms ? at_most : std::min(left, at_most)) + 1ms + jitter(i, 2ms));
    } else {
      // Another library's: no message will come.
      const span pause = span(client_.settings_.poll) + varied(i, client_.settings_.poll);
      again_at_ = later(sent, left < 0ms ? pause : std::min<span>(pause, left + 1ms));
    }
    if (planted(bug::no_timer)) again_at_ = never;
    return answer<grant>::no({label ? std::string(*label) : std::string(holder.empty() ? "" : "another library")});
  }

  [[nodiscard]] std::uint64_t fences() const noexcept { return wants_.exclusive() ? fences_in_a_block : 1; }

  static span jitter(io& i, milliseconds most) {
    return span(most) * static_cast<std::int64_t>(i.random() % 1024) / 1024;
  }
  span varied(io& i, milliseconds interval) const {
    const double where = static_cast<double>(i.random() % 2049) / 1024 - 1;  // -1 to 1
    return span(static_cast<span::rep>(static_cast<double>(span(interval).count()) * where * client_.settings_.jitter));
  }

  struct sample {
    instant sent;
    std::int64_t server_time;
    std::uint64_t fence;  // the last one
  };
  client& client_;
  const std::string lock_;          // its key; the others are made of it when they are needed
  const milliseconds granted_for_;  // after a push
  std::string owner_;               // a downgrade changes it
  const seam::share wants_;
  const milliseconds ttl_;
  const bool queue_;
  const bool barges_;
  bool may_be_reader_ = false;  // a downgrade was asked for, and not answered
  const bool bad_name_;
  addressee waiting_;
  std::int64_t ticket_ = 0;
  std::uint64_t fence_ = 0;  // of our grant
  fence_upkeep upkeep_;
  std::optional<left_behind> left_;  // a poll that got no answer
  std::optional<sample> sampled_;
  instant again_at_{};
};

/// Several whole locks: each step of all of them in one round trip.
class client::joint final : public seam::bundle {
 public:
  joint(client& c, std::vector<seam::claim_spec> specs) : bundle(c, std::move(specs)), client_(c) {}

 private:
  static place& at(part& p) { return static_cast<place&>(*p.place); }

  task<answer<done>> take_all(io& i, limit l) override {
    const instant sent = i.now();
    const milliseconds ttl = parts().front().spec.ttl;
    command c = call_of(scripts::acquire_all, 3 * parts().size(), 1 + parts().size());
    for (part& p : parts()) {
      if (at(p).has_bad_name()) co_return answer<done>::no();  // its own poll says why
      const keys k = at(p).all_keys();
      c.add(k.lock).add(k.queue).add(k.fence);
    }
    c.add(ttl.count());
    for (part& p : parts()) c.add(at(p).owner());
    std::optional<seam::failure> missing;
    reply r = co_await client_.run_grant(i, scripts::acquire_all, c, std::move(l), left_, missing);
    if (auto why = failed<done>(r, client_.settings_.prefix)) co_return std::move(*why);
    const value& v = std::get<value>(r);
    if (v.is(value::kind::integer)) co_return answer<done>::no();
    const bool good = v.is(value::kind::list) && v.items.size() == parts().size() &&
                      std::all_of(v.items.begin(), v.items.end(), [](const value& one) { return is_number(one, 1); });
    if (!good) co_return answer<done>::unknown(strange("acquire_all"));
    if (missing) co_return answer<done>::unknown(std::move(*missing));
    for (std::size_t n = 0; n < parts().size(); ++n) {
      parts()[n].fence = static_cast<std::uint64_t>(v.items[n].number);
      parts()[n].deadline = seam::deadline_after(sent, ttl);
    }
    co_return answer<done>::yes(done());
  }

  task<answer<instant>> renew_first(io& i, std::size_t some, milliseconds ttl, limit l) override {
    const instant sent = i.now();
    const bool keeps_fences = upkeep_.is_due(sent, ttl);
    command c = call_of(scripts::renew_all, (keeps_fences ? 3 : 2) * some, 1 + some);
    for (std::size_t n = 0; n < some; ++n) {
      const keys k = at(parts()[n]).all_keys();
      c.add(k.lock).add(k.asked);
      if (keeps_fences) c.add(k.fence);
    }
    c.add(ttl.count());
    for (std::size_t n = 0; n < some; ++n) c.add(at(parts()[n]).owner());
    std::optional<left_behind> nobody_minds;  // it never creates
    reply r = co_await client_.run(i, scripts::renew_all, c, std::move(l), nobody_minds);
    if (!asked_to_let_go(r)) {
      if (auto why = no_number<instant>(r, "renew_all", client_.settings_.prefix)) co_return std::move(*why);
      if (std::get<value>(r).number == 0) co_return answer<instant>::no();
    }
    const instant deadline = seam::deadline_after(sent, ttl);
    for (std::size_t n = 0; n < some; ++n) parts()[n].deadline = std::max(parts()[n].deadline, deadline);
    co_return answer<instant>::yes(deadline);
  }

  task<answer<done>> release_first(io& i, std::size_t some, limit l) override {
    std::vector<part*> left;
    for (std::size_t n = 0; n < some; ++n) {
      if (!parts()[n].gone) left.push_back(&parts()[n]);
    }
    if (left.empty()) co_return answer<done>::yes(done());
    command c = call_of(scripts::release_all, 4 * left.size(), 1 + left.size());
    for (part* p : left) {
      const keys k = at(*p).all_keys();
      add_keys(c, k);
    }
    c.add(client_.inboxes_of(at(*left.front()).all_keys().lock));
    for (part* p : left) c.add(at(*p).owner());
    if (left_) client_.link_->follow(*left_, load_of(scripts::release_all).then(c));
    left_.reset();
    for (part* p : left) at(*p).chase_what_was_left();
    std::optional<left_behind> nobody_minds;
    std::optional<std::int64_t> first;
    for (;;) {
      reply r = co_await client_.run(i, scripts::release_all, c, l, nobody_minds);
      if (auto why = no_number<done>(r, "release_all", client_.settings_.prefix)) {
        if (first) break;
        client_.leave_it_to_the_server(i, scripts::release_all, c, l);
        co_return std::move(*why);
      }
      const std::int64_t did = std::get<value>(r).number;
      if (!first) first = did & 3;
      if ((did & 4) == 0) break;
    }
    for (part* p : left) p->gone = true;
    co_return *first == 0 ? answer<done>::no() : answer<done>::yes(done());
  }

  /// They were renewed, and some of them are wanted by somebody.
  bool asked_to_let_go(reply& r) {
    const value* const v = std::get_if<value>(&r);
    if (v == nullptr || !v->is(value::kind::list) || v->items.empty() || v->items.size() % 2 != 0) return false;
    for (std::size_t n = 0; n < v->items.size(); n += 2) {
      const value& which = v->items[n];
      if (!is_number(which, 1) || static_cast<std::size_t>(which.number) > parts().size()) return false;
      place& meant = at(parts()[static_cast<std::size_t>(which.number) - 1]);
      const reply one = v->items[n + 1];
      if (!meant.asked_to_let_go(meant.owner(), one)) return false;
    }
    return true;
  }

  client& client_;
  std::optional<left_behind> left_;  // a step that got no answer, and may take the locks yet
  fence_upkeep upkeep_;
};

client::client(const settings& s, const std::string& inbox, const wiring& wire_up)
    : settings_(s),
      id_(inbox),
      inboxes_(inboxes(s.prefix)),
      link_(wire_up(identity{inboxes_, id_, introduction(s.prefix, id_)}, *this)) {}

std::unique_ptr<client> client::open(const std::string& url, runtime::loop& loop) {
  return open(settings::parse(url), loop);
}

std::unique_ptr<client> client::open(const settings& s, runtime::loop& loop) {
  const auto over_sockets = [&](const identity& me, listener& who) -> std::unique_ptr<link> {
    if (s.of_a_cluster()) return std::make_unique<cluster>(s, me, loop, who);
    return std::make_unique<wire>(s, me, loop, who);
  };
  return std::make_unique<client>(s, sixteen(runtime::random_bits(), runtime::random_bits()), over_sockets);
}

std::unique_ptr<seam::claim> client::open(seam::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

std::unique_ptr<seam::claim> client::open_all(std::vector<seam::claim_spec> specs) {
  // A script knows one slot only.
  const auto slot = [&](const seam::claim_spec& each) { return slot_of(keys(settings_.prefix, each.name).lock); };
  const bool apart = settings_.of_a_cluster() && std::ranges::any_of(specs, [&](const seam::claim_spec& each) {
                       return slot(each) != slot(specs.front());
                     });
  if (apart || !specs.front().wants.exclusive()) return backend::open_all(std::move(specs));
  return std::make_unique<joint>(*this, std::move(specs));
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  const keys k(settings_.prefix, name);
  command c = call_of(scripts::resize, 4, 2);
  add_keys(c, k).add(inboxes_of(k.lock)).add(static_cast<std::int64_t>(whole));
  std::optional<left_behind> nobody_minds;
  for (;;) {
    reply r = co_await run(i, scripts::resize, c, l, nobody_minds);
    if (auto why = no_number<done>(r, "resize", settings_.prefix)) co_return std::move(*why);
    if (std::get<value>(r).number == 0) co_return answer<done>::yes(done());
  }
}

std::unique_ptr<seam::cell> client::open_cell(std::string name) { return std::make_unique<cell>(*this, name); }

task<answer<std::vector<finding>>> client::examine(io& i, limit l) {
  return redis::examine(i, *link_, settings_, std::move(l));
}

void client::when_asked(std::function<void(seam::asking)> asked) { asked_ = std::move(asked); }

void client::tell(const plea& asks) {
  const std::optional<owner_reading> who = owner_reading::of(asks.owner);
  if (who && asked_) asked_({who->id, asks.fence, std::string(asks.reason)});
}

void client::tell_of_loss(std::string_view owner) {
  const std::optional<owner_reading> who = owner_reading::of(owner);
  if (who && asked_) asked_({.owner = who->id, .taken = true});
}

void client::when_in_doubt(std::function<void()> verify) { verify_ = std::move(verify); }

void client::close() noexcept { link_->close(); }

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

void client::pushed(std::string_view text) {
  if (text.starts_with(watchers::mark)) return watchers_.tell(std::string(text.substr(1)));
  if (text.starts_with(mark_of_the_taken)) return tell_of_loss(text.substr(1));
  if (const std::optional<plea> asks = plea::parse(text)) return tell(*asks);
  const std::optional<message> m = message::parse(text);
  if (!m || inbox_.deliver(*m) || planted(bug::stray_push_kept)) return;
  // Whoever waited has left, and a poll of it came late: nobody else knows that the lock is ours. Nobody reads the
  // reply either, so the script goes first, in case the server has forgotten it.
  const keys k = keys::of_lock(settings_.prefix, std::string(m->lock));
  const script& step = steps_of(wants_in(m->owner)).release;
  link_->post(load_of(step).then(release_of(step, k, m->owner, inboxes_of(k.lock))));
}

std::string client::inboxes_of(std::string_view lock) const {
  return settings_.of_a_cluster() ? inboxes_at(inboxes_, slot_of(lock)) : inboxes_;
}

void client::missed() noexcept {
  inbox_.wake_all();
  watchers_.tell_all();
}

void client::in_doubt() noexcept {
  wait_.in_doubt();
  missed();
  if (verify_ && !planted(bug::doubt_forgotten)) verify_();
}

void client::leave_it_to_the_server(const io& i, const script& s, const command& c, const limit& l) {
  if (l.stop().stop_requested() && !i.in_place()) link_->post(load_of(s).then(c));
}

task<reply> client::run(io& i, const script& s, const command& c, limit l, std::optional<left_behind>& left) {
  reply r = co_await link_->call(i, c, l, left);
  for (int tries = 0; tries < 5 && is_missing_script(r, c) && !planted(bug::noscript_is_no); ++tries) {
    const command again = load_of(s).then(c);
    r = co_await link_->call(i, again, l, left);
  }
  co_return r;
}

task<reply> client::run_grant(io& i, const script& s, const command& c, limit l, std::optional<left_behind>& left,
                              std::optional<seam::failure>& missing) {
  if (!wait_.is_wanted()) return run(i, s, c, std::move(l), left);
  return run_and_wait(i, s, c, std::move(l), left, missing);
}

task<reply> client::run_and_wait(io& i, const script& s, const command& c, limit l, std::optional<left_behind>& left,
                                 std::optional<seam::failure>& missing) {
  const std::optional<seam::failure> cannot = co_await wait_.prepare(i, *link_, l);
  if (cannot) co_return *cannot;
  const std::int64_t needed = wait_.needed();
  const command all = wait_.behind(c, needed);
  reply r = co_await run(i, s, all, std::move(l), left);
  value* const v = std::get_if<value>(&r);
  if (v == nullptr || all.wanted() == 1) co_return r;
  if (!planted(bug::replicas_not_minded)) missing = wait_.missing(*v, needed);
  value grant = std::move(v->items.front());
  co_return grant;
}

}  // namespace holdfast::redis
