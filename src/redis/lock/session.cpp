#include "redis/lock/session.hpp"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/slots.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::redis {

using runtime::io;
using runtime::task;

namespace {

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

session::session(const settings& s, const std::string& inbox_id, const wiring& connect)
    : config(s),
      id(inbox_id),
      inboxes(redis::inboxes(s.prefix)),
      server(connect(identity{inboxes, id, introduction(s.prefix, id)}, *this)) {}

void session::pushed(std::string_view text) {
  const std::optional<message> m = message::parse(text);
  if (!m) return;
  switch (m->what) {
    case message::kind::grant: return take_grant(*m);
    case message::kind::revoke_request:
    case message::kind::loss: return notify_holder(*m);
    case message::kind::change: return cell_watchers.notify(std::string(m->key));
  }
}

void session::take_grant(const message& m) {
  if (waiters.deliver(m) || seeded(bug::stray_push_kept)) return;
  // The waiter has left, and a late poll of it made the server grant the lock. No caller reads the reply to this
  // release, so the script goes first, in case the server has forgotten it.
  const keys k = keys::of_lock(config.prefix, m.key);
  const script& release = scripts_for(wants_in(m.owner)).release;
  server->post(load_of(release).then(release_of(release, k, m.owner, inboxes_of(k.lock))));
}

void session::notify_holder(const message& m) {
  const std::optional<owner_reading> who = owner_reading::of(m.owner);
  if (!who || events == nullptr) return;
  events->revoke_requested(
      {.owner = who->id, .fence = m.fence, .reason = std::string(m.reason), .broken = m.what == message::kind::loss});
}

std::string session::inboxes_of(std::string_view lock) const {
  return config.of_a_cluster() ? inboxes_at(inboxes, slot_of(lock)) : inboxes;
}

void session::missed(storage::shard which) noexcept {
  // Where it listened when it looked last, and where it would now: a slot may have moved in between.
  const auto is_concerned = [&](std::uint16_t slot, storage::shard listened_at) {
    if (which == storage::no_shard || listened_at == which) return true;
    const storage::shard now = server->shard_of(slot);
    return now == which || now == storage::no_shard;
  };
  waiters.wake(is_concerned);
  cell_watchers.wake(is_concerned);
}

void session::in_doubt(storage::shard which) noexcept {
  wait.in_doubt();
  missed(which);
  if (events != nullptr && !seeded(bug::doubt_forgotten)) events->in_doubt(which);
}

void session::back() noexcept {
  if (events != nullptr) events->back();
}

void session::warned(std::string_view what) {
  if (events != nullptr) events->warning(what);
}

void session::leave_to_server(const io& i, const script& s, const command& c, const limit& l) {
  if (l.stop().stop_requested() && !i.in_place()) server->post(load_of(s).then(c));
}

task<reply> session::run(io& i, const script& s, const command& c, limit l,
                         std::optional<abandoned_command>* abandoned) {
  reply r = co_await server->call(i, c, l, abandoned);
  for (int tries = 0; tries < 5 && is_missing_script(r, c) && !seeded(bug::noscript_is_no); ++tries) {
    const command again = load_of(s).then(c);
    r = co_await server->call(i, again, l, abandoned);
  }
  co_return r;
}

task<reply> session::run_grant(io& i, const script& s, const command& c, limit l,
                               std::optional<abandoned_command>* abandoned, std::optional<storage::failure>& missing) {
  if (!wait.is_wanted()) return run(i, s, c, std::move(l), abandoned);
  return run_and_wait(i, s, c, std::move(l), abandoned, missing);
}

task<reply> session::run_and_wait(io& i, const script& s, const command& c, limit l,
                                  std::optional<abandoned_command>* abandoned,
                                  std::optional<storage::failure>& missing) {
  const std::optional<storage::failure> cannot = co_await wait.prepare(i, *server, l);
  if (cannot) co_return *cannot;
  const std::int64_t needed = wait.needed();
  const command all = wait.behind(c, needed);
  reply r = co_await run(i, s, all, std::move(l), abandoned);
  value* const v = std::get_if<value>(&r);
  if (v == nullptr || all.wanted() == 1) co_return r;
  if (!seeded(bug::replicas_not_minded)) missing = wait.missing(*v, needed);
  value grant = std::move(v->items.front());
  co_return grant;
}

}  // namespace holdfast::redis
