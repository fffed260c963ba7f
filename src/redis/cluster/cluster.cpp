#include "redis/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include "redis/protocol/error_reply.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr int most_redirections = 8;

/// Whether other nodes may know better which of them has the slot.
bool is_trouble(const reply& r, const command* to) noexcept {
  const std::string* const error = error_in(r, to);
  if (error == nullptr) return is_unreachable(r);
  return error->starts_with("CLUSTERDOWN") || is_wrong_server(*error);
}

}  // namespace

cluster::cluster(const settings& s, const identity& me, runtime::loop& loop, listener& who)
    : settings_(s), me_(me), loop_(loop), map_(s, me, loop, who) {}

task<reply> cluster::call(io& i, const command& what, limit l, std::optional<abandoned_command>* abandoned) {
  if (!introduced_.load(std::memory_order_relaxed) && !introduced_.exchange(true)) {
    const routed_command introduction{&*me_.introduction, slot_of(me_.introduction->key()), nullptr};
    const reply said = co_await run(i, introduction, l);
    loop_.start();
    tasks_.spawn(introduce(std::holds_alternative<value>(said)));
  }
  const routed_command mine{&what, slot_of(what.key()), abandoned};
  reply got = co_await run(i, mine, std::move(l));
  co_return got;
}

/// Repeats the introduction every hour. The record lasts for a day.
task<void> cluster::introduce(bool already) {
  for (;;) {
    const limit pause(later(loop_.now(), already ? milliseconds(1h) : 1s), ending_.get_token());
    const wake why = co_await sleep(loop_, pause);
    if (why == wake::stopped) co_return;
    const routed_command introduction{&*me_.introduction, slot_of(me_.introduction->key()), nullptr};
    const reply said = co_await run(loop_, introduction, limit(later(loop_.now(), 5s), ending_.get_token()));
    already = std::holds_alternative<value>(said);
  }
}

/// Runs the command at the node that has the slot, and wherever the nodes redirect it.
task<reply> cluster::run(io& i, routed_command what, limit l) {
  std::optional<storage::failure> lost = co_await map_.ensure_loaded(i, l);
  if (lost) co_return std::move(*lost);
  slot_map::user to = map_.has(what.slot);
  bool once = false;
  for (int hops = 0; to != nullptr; ++hops) {
    reply got = storage::failure(errc::unreachable, "");
    std::optional<abandoned_command> abandoned;  // by this try; an earlier one may have abandoned it elsewhere
    const routed_command one{what.what, what.slot, &abandoned};
    if (once) {
      got = co_await to->run_asking(i, one, l);
    } else {
      got = co_await to->run(i, one, l);
    }
    if (abandoned && what.abandoned != nullptr) *what.abandoned = abandoned;
    if (is_trouble(got, what.what)) {
      const slot_map::user owner = co_await new_owner(i, *to, one, l);
      if (owner == nullptr || hops >= most_redirections) co_return got;
      to = owner;
      once = false;
      continue;
    }
    const std::string* const error = error_in(got, what.what);
    if (error == nullptr) co_return got;
    const std::optional<redirection> elsewhere = redirection::of(*error, to->at());
    if (!elsewhere) co_return got;
    if (hops >= most_redirections || i.now() >= l.at() || l.stop().stop_requested())
      co_return storage::failure(errc::not_ready, "the nodes of the cluster disagree: " + *error);
    once = elsewhere->once;
    to = map_.at(elsewhere->to);
    if (!once) map_.apply_redirect(*elsewhere);
  }
  map_.refresh_soon();
  co_return storage::failure(errc::not_ready,
                             "no node of the cluster has the slot " + std::to_string(what.slot) + " of this name");
}

/// Returns the node that has the slot now, if it is another one and the first has certainly not carried out the
/// command: a release that is carried out twice reports the second time that the lock was lost. A blocking caller loads
/// the map at once; on the loop, where thousands may ask at the same time, it is loaded once for all of them.
task<slot_map::user> cluster::new_owner(io& i, const node& of, routed_command what, limit l) {
  const bool sent = what.abandoned != nullptr && *what.abandoned;
  if (!i.in_place() || sent) {
    map_.refresh_soon();
    co_return nullptr;
  }
  const std::optional<storage::failure> lost = co_await map_.refresh(i, std::move(l));
  slot_map::user now = lost ? nullptr : map_.has(what.slot);
  if (now.get() == &of) now.reset();
  co_return now;
}

void cluster::follow(const abandoned_command& where, const command& what) noexcept {
  const slot_map::user to = map_.numbered(where.node);
  if (to) to->to_server().follow(where, what);
}

storage::shard cluster::shard_of(std::uint16_t slot) const noexcept {
  const slot_map::user there = map_.has(slot);
  return there == nullptr ? storage::no_shard : there->shard();
}

bool cluster::listens(const std::string& key) const noexcept {
  const std::uint16_t slot = slot_of(key);
  const slot_map::user to = map_.has(slot);
  return to != nullptr && to->to_server().events().is_subscribed(slot);
}

task<std::optional<storage::failure>> cluster::listen(io& i, const std::string& key, limit l) {
  const routed_command to_listen{nullptr, slot_of(key), nullptr};
  reply got = co_await run(i, to_listen, std::move(l));
  if (auto* const why = std::get_if<storage::failure>(&got)) co_return std::move(*why);
  if (const std::string* const error = error_in(got, nullptr)) co_return meaning_of(*error, settings_.prefix);
  co_return std::nullopt;
}

void cluster::post(const command& what) {
  if (const slot_map::user to = map_.has(slot_of(what.key()))) to->to_server().post(what);
}

task<storage::answer<std::vector<std::string>>> cluster::parts(io& i, limit l) {
  std::optional<storage::failure> lost = co_await map_.ensure_loaded(i, std::move(l));
  if (lost) co_return storage::answer<std::vector<std::string>>::unknown(std::move(*lost));
  map_.refresh_soon();  // commands to parts are sent by name, and are never redirected
  co_return storage::answer<std::vector<std::string>>::yes(map_.primaries());
}

std::shared_ptr<transport> cluster::part(const std::string& name) {
  const slot_map::user named = map_.named(name);
  if (!named) return nullptr;
  return {named, &named->to_server()};
}

void cluster::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  map_.close();
}

}  // namespace holdfast::redis
