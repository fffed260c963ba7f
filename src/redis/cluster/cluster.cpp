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

/// Others may know better who has the slot.
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
    const errand introduction{&*me_.introduction, slot_of(me_.introduction->key()), nullptr};
    const reply said = co_await run(i, introduction, l);
    loop_.start();
    tasks_.spawn(introduce(std::holds_alternative<value>(said)));
  }
  const errand mine{&what, slot_of(what.key()), abandoned};
  reply got = co_await run(i, mine, std::move(l));
  co_return got;
}

/// Once an hour: the record lasts for a day.
task<void> cluster::introduce(bool already) {
  for (;;) {
    const limit pause(later(loop_.now(), already ? milliseconds(1h) : 1s), ending_.get_token());
    const wake why = co_await sleep(loop_, pause);
    if (why == wake::stopped) co_return;
    const errand introduction{&*me_.introduction, slot_of(me_.introduction->key()), nullptr};
    const reply said = co_await run(loop_, introduction, limit(later(loop_.now(), 5s), ending_.get_token()));
    already = std::holds_alternative<value>(said);
  }
}

/// There, and wherever the nodes send us.
task<reply> cluster::run(io& i, errand what, limit l) {
  std::optional<storage::failure> lost = co_await map_.make_sure(i, l);
  if (lost) co_return std::move(*lost);
  slot_map::user to = map_.has(what.slot);
  bool once = false;
  for (int hops = 0; to != nullptr; ++hops) {
    reply got = storage::failure(errc::unreachable, "");
    std::optional<abandoned_command> abandoned;  // by this try; an earlier one may have left something elsewhere
    const errand one{what.what, what.slot, &abandoned};
    if (once) {
      got = co_await to->run_asking(i, one, l);
    } else {
      got = co_await to->run(i, one, l);
    }
    if (abandoned && what.abandoned != nullptr) *what.abandoned = abandoned;
    if (is_trouble(got, what.what)) {
      const slot_map::user heir = co_await find_heir(i, *to, one, l);
      if (heir == nullptr || hops >= most_redirections) co_return got;
      to = heir;
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
    if (!once) map_.learn(*elsewhere);
  }
  map_.draw_soon();
  co_return storage::failure(errc::not_ready,
                             "no node of the cluster has the slot " + std::to_string(what.slot) + " of this name");
}

/// Who has the slot now, if it is another, and the first has certainly not carried out the command: a release that is
/// carried out twice says the second time that the lock was lost. Whoever blocks asks right away; the loop, where
/// thousands may come at the same time, lets it be asked once for all of them.
task<slot_map::user> cluster::find_heir(io& i, const node& of, errand what, limit l) {
  const bool sent = what.abandoned != nullptr && *what.abandoned;
  if (!i.in_place() || sent) {
    map_.draw_soon();
    co_return nullptr;
  }
  const std::optional<storage::failure> lost = co_await map_.draw(i, std::move(l));
  slot_map::user now = lost ? nullptr : map_.has(what.slot);
  if (now.get() == &of) now.reset();
  co_return now;
}

void cluster::follow(const abandoned_command& where, const command& what) noexcept {
  const slot_map::user to = map_.numbered(where.node);
  if (to) to->way().follow(where, what);
}

storage::shard cluster::shard_of(std::uint16_t slot) const noexcept {
  const slot_map::user there = map_.has(slot);
  return there == nullptr ? storage::no_shard : there->shard();
}

bool cluster::listens(const std::string& key) const noexcept {
  const std::uint16_t slot = slot_of(key);
  const slot_map::user to = map_.has(slot);
  return to != nullptr && to->way().main().hears(slot);
}

task<std::optional<storage::failure>> cluster::listen(io& i, const std::string& key, limit l) {
  const errand to_listen{nullptr, slot_of(key), nullptr};
  reply got = co_await run(i, to_listen, std::move(l));
  if (auto* const why = std::get_if<storage::failure>(&got)) co_return std::move(*why);
  if (const std::string* const error = error_in(got, nullptr)) co_return meaning_of(*error, settings_.prefix);
  co_return std::nullopt;
}

void cluster::post(const command& what) {
  if (const slot_map::user to = map_.has(slot_of(what.key()))) to->way().post(what);
}

task<storage::answer<std::vector<std::string>>> cluster::parts(io& i, limit l) {
  std::optional<storage::failure> lost = co_await map_.make_sure(i, std::move(l));
  if (lost) co_return storage::answer<std::vector<std::string>>::unknown(std::move(*lost));
  map_.draw_soon();  // parts are asked by their names: none of them says that another has its slots now
  co_return storage::answer<std::vector<std::string>>::yes(map_.primaries());
}

std::shared_ptr<link> cluster::part(const std::string& name) {
  const slot_map::user named = map_.named(name);
  if (!named) return nullptr;
  return {named, &named->way()};
}

void cluster::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  map_.close();
}

}  // namespace holdfast::redis
