#include "redis/lock/client.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "redis/cluster/cluster.hpp"
#include "redis/doctor/health_check.hpp"
#include "redis/lock/cell.hpp"
#include "redis/lock/joint.hpp"
#include "redis/lock/place.hpp"
#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/slots.hpp"
#include "redis/protocol/step.hpp"
#include "redis/transport/server_transport.hpp"
#include "runtime/random.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::redis {

namespace {

using runtime::io;
using runtime::task;
using storage::answer;
using storage::done;

bool is_missing_script(const reply& r, const command& c) noexcept {
  const value* const v = said_to(c, r);
  return v != nullptr && v->is(value::kind::error) && is_noscript(v->text);
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

client::client(const settings& s, const std::string& inbox, const wiring& wire_up)
    : settings_(s),
      id_(inbox),
      inboxes_(inboxes(s.prefix)),
      transport_(wire_up(identity{inboxes_, id_, introduction(s.prefix, id_)}, *this)) {}

std::unique_ptr<client> client::open(const std::string& url, runtime::loop& loop) {
  return open(settings::parse(url), loop);
}

std::unique_ptr<client> client::open(settings s, runtime::loop& loop) {
  s.load_tls();
  const auto over_sockets = [&](const identity& me, listener& who) -> std::unique_ptr<transport> {
    if (s.of_a_cluster()) return std::make_unique<cluster>(s, me, loop, who);
    return std::make_unique<server_transport>(s, me, loop, who);
  };
  return std::make_unique<client>(s, sixteen(runtime::random_bits(), runtime::random_bits()), over_sockets);
}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

std::unique_ptr<storage::claim> client::open_all(std::vector<storage::claim_spec> specs) {
  // A script knows one slot only.
  const auto slot = [&](const storage::claim_spec& each) { return slot_of(lock_key(settings_.prefix, each.name)); };
  const bool apart = settings_.of_a_cluster() && std::ranges::any_of(specs, [&](const storage::claim_spec& each) {
                       return slot(each) != slot(specs.front());
                     });
  if (apart || !specs.front().wants.exclusive()) return backend::open_all(std::move(specs));
  return std::make_unique<joint>(*this, std::move(specs));
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  const keys k(settings_.prefix, name);
  command c = call_of(scripts::resize, 4, 2);
  add_keys(c, k).add(inboxes_of(k.lock)).add(static_cast<std::int64_t>(whole));
  for (;;) {
    reply r = co_await run(i, scripts::resize, c, l);
    if (auto why = no_number<done>(r, "resize", settings_.prefix)) co_return std::move(*why);
    if (std::get<value>(r).number == 0) co_return answer<done>::yes(done());
  }
}

std::unique_ptr<storage::cell> client::open_cell(std::string name) { return std::make_unique<cell>(*this, name); }

task<answer<std::vector<finding>>> client::examine(io& i, limit l) {
  return redis::examine(i, *transport_, settings_, std::move(l));
}

void client::tell(const plea& asks) {
  const std::optional<owner_reading> who = owner_reading::of(asks.owner);
  if (who && events_) events_->revoke_requested({who->id, asks.fence, std::string(asks.reason)});
}

void client::tell_of_loss(std::string_view owner) {
  const std::optional<owner_reading> who = owner_reading::of(owner);
  if (who && events_) events_->revoke_requested({.owner = who->id, .broken = true});
}

void client::close() noexcept { transport_->close(); }

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

void client::pushed(std::string_view text) {
  if (text.starts_with(watchers::mark)) return watchers_.tell(std::string(text.substr(1)));
  if (text.starts_with(mark_of_the_taken)) return tell_of_loss(text.substr(1));
  if (const std::optional<plea> asks = plea::parse(text)) return tell(*asks);
  const std::optional<message> m = message::parse(text);
  if (!m || inbox_.deliver(*m) || seeded(bug::stray_push_kept)) return;
  // Whoever waited has left, and a poll of it came late: nobody else knows that the lock is ours. Nobody reads the
  // reply either, so the script goes first, in case the server has forgotten it.
  const keys k = keys::of_lock(settings_.prefix, m->lock);
  const script& step = steps_of(wants_in(m->owner)).release;
  transport_->post(load_of(step).then(release_of(step, k, m->owner, inboxes_of(k.lock))));
}

std::string client::inboxes_of(std::string_view lock) const {
  return settings_.of_a_cluster() ? inboxes_at(inboxes_, slot_of(lock)) : inboxes_;
}

void client::missed(storage::shard which) noexcept {
  // Where it listened when it looked last, and where it would now: a slot may have moved in between.
  const auto is_concerned = [&](std::uint16_t slot, storage::shard listened_at) {
    if (which == storage::no_shard || listened_at == which) return true;
    const storage::shard now = transport_->shard_of(slot);
    return now == which || now == storage::no_shard;
  };
  inbox_.wake(is_concerned);
  watchers_.wake(is_concerned);
}

void client::in_doubt(storage::shard which) noexcept {
  wait_.in_doubt();
  missed(which);
  if (events_ && !seeded(bug::doubt_forgotten)) events_->in_doubt(which);
}

void client::back() noexcept {
  if (events_) events_->back();
}

void client::warned(std::string_view what) {
  if (events_) events_->warning(what);
}

void client::leave_it_to_the_server(const io& i, const script& s, const command& c, const limit& l) {
  if (l.stop().stop_requested() && !i.in_place()) transport_->post(load_of(s).then(c));
}

task<reply> client::run(io& i, const script& s, const command& c, limit l,
                        std::optional<abandoned_command>* abandoned) {
  reply r = co_await transport_->call(i, c, l, abandoned);
  for (int tries = 0; tries < 5 && is_missing_script(r, c) && !seeded(bug::noscript_is_no); ++tries) {
    const command again = load_of(s).then(c);
    r = co_await transport_->call(i, again, l, abandoned);
  }
  co_return r;
}

task<reply> client::run_grant(io& i, const script& s, const command& c, limit l,
                              std::optional<abandoned_command>* abandoned, std::optional<storage::failure>& missing) {
  if (!wait_.is_wanted()) return run(i, s, c, std::move(l), abandoned);
  return run_and_wait(i, s, c, std::move(l), abandoned, missing);
}

task<reply> client::run_and_wait(io& i, const script& s, const command& c, limit l,
                                 std::optional<abandoned_command>* abandoned,
                                 std::optional<storage::failure>& missing) {
  const std::optional<storage::failure> cannot = co_await wait_.prepare(i, *transport_, l);
  if (cannot) co_return *cannot;
  const std::int64_t needed = wait_.needed();
  const command all = wait_.behind(c, needed);
  reply r = co_await run(i, s, all, std::move(l), abandoned);
  value* const v = std::get_if<value>(&r);
  if (v == nullptr || all.wanted() == 1) co_return r;
  if (!seeded(bug::replicas_not_minded)) missing = wait_.missing(*v, needed);
  value grant = std::move(v->items.front());
  co_return grant;
}

}  // namespace holdfast::redis
