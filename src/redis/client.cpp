#include "redis/client.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "planted.hpp"
#include "redis/error_reply.hpp"
#include "redis/keys.hpp"
#include "redis/owner.hpp"
#include "redis/wire.hpp"
#include "runtime/random.hpp"

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

seam::failure strange(std::string_view what) {
  return {errc::foreign, "the server's answer makes no sense: " + std::string(what)};
}

/// A number that nothing is the worse for, whoever sent it.
bool is_number(const value& v, std::int64_t least) {
  return v.is(value::kind::integer) && v.number >= least && v.number <= largest_number;
}

/// Answers and errors are told apart here, once for all steps.
template <class T>
std::optional<answer<T>> failed(reply& r, std::string_view prefix) {
  if (auto* const why = std::get_if<seam::failure>(&r)) return answer<T>::unknown(std::move(*why));
  const value& v = std::get<value>(r);
  if (planted(bug::noscript_is_no) && v.is(value::kind::error) && is_noscript(v.text)) return answer<T>::no();
  if (v.is(value::kind::error)) return answer<T>::unknown(meaning_of(v.text, prefix));
  return std::nullopt;
}

bool is_missing_script(const reply& r) noexcept {
  const value* const v = std::get_if<value>(&r);
  return v != nullptr && v->is(value::kind::error) && is_noscript(v->text);
}

/// The same, of a step that is answered by a number.
template <class T>
std::optional<answer<T>> no_number(reply& r, std::string_view step, std::string_view prefix) {
  auto why = failed<T>(r, prefix);
  if (!why && !is_number(std::get<value>(r), 0)) why.emplace(answer<T>::unknown(strange(step)));
  return why;
}

command call_of(const script& s, std::size_t keys, std::size_t args) {
  command c(3 + keys + args);
  c.add("EVALSHA").add(s.sha).add(static_cast<std::int64_t>(keys));
  return c;
}

command load_of(const script& s) {
  command c(3);
  c.add("SCRIPT").add("LOAD").add(s.text);
  return c;
}

command release_of(const keys& k, std::string_view owner, std::string_view inboxes) {
  command c = call_of(scripts::release, 3, 2);
  c.add(k.lock).add(k.queue).add(k.fence).add(owner).add(inboxes);
  return c;
}

/// Host, process id and program, a line each, for a day.
command introduction(std::string_view prefix, std::string_view id) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string lines =
      std::string(host) + "\n" + std::to_string(::getpid()) + "\n" + program_invocation_short_name;
  command c(5);
  c.add("SET").add(client_record(prefix, id)).add(lines).add("EX").add("86400");
  return c;
}

}  // namespace

class client::place final : public seam::claim {
 public:
  place(client& c, seam::claim_spec spec)
      : client_(c),
        lock_(keys(c.settings_.prefix, spec.name).lock),
        owner_(owner_text(c.id_, spec.owner, spec.fixed ? spec.ttl : std::min(spec.ttl, claim_ttl), spec.label)),
        ttl_(spec.ttl),
        granted_for_(spec.fixed ? spec.ttl : std::min(spec.ttl, claim_ttl)),
        queue_(spec.queue),
        bad_name_(!keys::may_be(c.settings_.prefix, spec.name)) {
    if (queue_ && !planted(bug::inbox_after_poll)) client_.inbox_.add(owner_, waiting_);
  }
  ~place() override {
    if (queue_) client_.inbox_.remove(owner_);
  }

  task<answer<grant>> poll(io& i, limit l) override {
    if (bad_name_) {
      const std::string why = "without a prefix no name may begin with holdfast: since our own keys do";
      co_return answer<grant>::unknown(seam::failure(errc::bad_name, why));
    }
    const std::optional<grant> told = told_by_push(i.now());
    if (told) co_return answer<grant>::yes(*told);
    // Messages must reach us before we stand in the queue: whoever hears nothing is skipped. If the lock is free,
    // there is no need to listen.
    const bool in_queue = queue_ && client_.link_->listens();
    answer<grant> got = co_await ask(i, in_queue, l);
    if (in_queue || !queue_ || !got.is_no()) co_return got;
    const std::optional<seam::failure> deaf = co_await client_.link_->listen(i, l);
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
    command c = call_of(scripts::renew, 1, 2);
    c.add(lock_).add(owner_).add(ttl.count());
    std::optional<left_behind> nobody_minds;  // it never creates
    reply r = co_await client_.run(i, scripts::renew, c, std::move(l), nobody_minds);
    if (auto why = no_number<instant>(r, "renew", client_.settings_.prefix)) co_return std::move(*why);
    if (std::get<value>(r).number == 0) co_return answer<instant>::no();
    co_return answer<instant>::yes(seam::deadline_after(sent, ttl));
  }

  task<answer<done>> release(io& i, limit l) override {
    const command c = release_of(all_keys(), owner_, client_.inboxes_);
    // A poll that nobody waited for may be carried out after this, and would take the lock for nobody.
    if (left_) client_.link_->follow(*left_, load_of(scripts::release).then(c));
    left_.reset();
    std::optional<left_behind> nobody_minds;
    bool was_there = false;
    for (;;) {
      reply r = co_await client_.run(i, scripts::release, c, l, nobody_minds);
      if (auto why = no_number<done>(r, "release", client_.settings_.prefix)) {
        if (was_there) break;
        co_return std::move(*why);
      }
      const std::int64_t did = std::get<value>(r).number;
      was_there = was_there || (did & 3) != 0;
      if ((did & 4) == 0) break;
    }
    if (!was_there) co_return answer<done>::no();
    co_return answer<done>::yes(done());
  }

 private:
  /// Whoever released the lock has given it to us, and said so: no need to ask. Nothing: ask.
  std::optional<grant> told_by_push(instant now) {
    const auto told = waiting_.granted.with([](auto& last) { return std::exchange(last, {}); });
    if (!told || !sampled_) return std::nullopt;
    // Older than that answer: it was granted, and is over. Clocks cannot tell, if the server's was set back meanwhile.
    if (told->fence <= sampled_->fence) return std::nullopt;
    // When our last poll was answered, the server's clock showed sampled_->server_time, and ours at least
    // sampled_->sent: the grant is not older than that.
    const auto elapsed = std::chrono::microseconds(told->server_time - sampled_->server_time);
    const instant granted_at = planted(bug::deadline_from_push) ? now : sampled_->sent + span(elapsed) / 100 * 99;
    if (elapsed < 0us || granted_at > now) return std::nullopt;  // the server's clock was set
    const milliseconds granted_for = planted(bug::claim_ttl_forgotten) ? ttl_ : granted_for_;
    const instant deadline = seam::deadline_after(granted_at, granted_for);
    if (now + span(granted_for) / 4 > deadline) return std::nullopt;  // it has waited for us for long
    return grant{told->fence, fences_in_a_block, deadline};
  }

  [[nodiscard]] keys all_keys() const { return keys::of_lock(client_.settings_.prefix, lock_); }

  task<answer<grant>> ask(io& i, bool in_queue, limit l) {
    const instant sent = i.now();
    command c = call_of(scripts::acquire, 3, 4);
    const keys k = all_keys();
    c.add(k.lock).add(k.queue).add(k.fence);
    c.add(owner_).add(ttl_.count()).add(client_.inboxes_);
    if (!in_queue) {
      c.add("-");
    } else if (ticket_ == 0) {
      c.add("");
    } else {
      c.add(ticket_);
    }
    reply r = co_await client_.run(i, scripts::acquire, c, std::move(l), left_);
    if (planted(bug::inbox_after_poll) && queue_) client_.inbox_.add(owner_, waiting_);
    if (auto why = failed<grant>(r, client_.settings_.prefix)) co_return std::move(*why);
    const value& v = std::get<value>(r);
    if (is_number(v, 1)) {
      const instant from = planted(bug::deadline_from_reply) ? i.now() : sent;
      const grant g{static_cast<std::uint64_t>(v.number), fences_in_a_block, seam::deadline_after(from, ttl_)};
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
    const instant from = planted(bug::sample_from_reply) ? i.now() : sent;
    sampled_ = sample{from, v.items[3].number, static_cast<std::uint64_t>(v.items[5].number)};
    if (in_queue) ticket_ = v.items[1].number;
    const std::optional<std::string_view> label = label_in(holder);
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
  const std::string lock_;  // its key; the others are made of it when they are needed
  const std::string owner_;
  const milliseconds ttl_;
  const milliseconds granted_for_;  // after a push
  const bool queue_;
  const bool bad_name_;
  addressee waiting_;
  std::int64_t ticket_ = 0;
  std::optional<left_behind> left_;  // a poll that got no answer
  std::optional<sample> sampled_;
  instant again_at_{};
};

client::client(const settings& s, const std::string& inbox, const wiring& wire_up)
    : settings_(s),
      id_(inbox),
      inboxes_(inboxes(s.prefix)),
      link_(wire_up(identity{inboxes_ + id_, introduction(s.prefix, id_)}, *this)) {}

std::unique_ptr<client> client::open(const std::string& url, runtime::loop& loop) {
  const settings s = settings::parse(url);
  const auto over_sockets = [&](const identity& me, listener& who) { return std::make_unique<wire>(s, me, loop, who); };
  return std::make_unique<client>(s, sixteen(runtime::random_bits(), runtime::random_bits()), over_sockets);
}

std::unique_ptr<seam::claim> client::open(seam::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

void client::when_in_doubt(std::function<void()> verify) { verify_ = std::move(verify); }

void client::close() noexcept { link_->close(); }

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

void client::pushed(std::string_view text) {
  const std::optional<message> m = message::parse(text);
  if (!m || inbox_.deliver(*m) || planted(bug::stray_push_kept)) return;
  // Whoever waited has left, and a poll of it came late: nobody else knows that the lock is ours. Nobody reads the
  // reply either, so the script goes first, in case the server has forgotten it.
  const keys k = keys::of_lock(settings_.prefix, std::string(m->lock));
  link_->post(load_of(scripts::release).then(release_of(k, m->owner, inboxes_)));
}

void client::in_doubt() noexcept {
  inbox_.wake_all();
  if (verify_) verify_();
}

task<reply> client::run(io& i, const script& s, const command& c, limit l, std::optional<left_behind>& left) {
  reply r = co_await link_->call(i, c, l, left);
  for (int tries = 0; tries < 5 && is_missing_script(r) && !planted(bug::noscript_is_no); ++tries) {
    const command again = load_of(s).then(c);
    r = co_await link_->call(i, again, l, left);
  }
  co_return r;
}

}  // namespace holdfast::redis
