#include "redis/cluster/slot_map.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "runtime/blocking.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using net::endpoint;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr milliseconds between_maps = 100ms;
constexpr milliseconds before_forgetting = 1s;

}  // namespace

slot_map::slot_map(const settings& s, const identity& me, runtime::loop& loop, listener& who)
    : settings_(s), me_(me), loop_(loop), listener_(who) {
  for (const endpoint& each : settings_.seeds) (void)at(each);
}

/// The node is made without the lock, which is held only briefly.
slot_map::user slot_map::at(const endpoint& where) {
  const auto is_there = [&](const node& n) { return n.at() == where; };
  user found = known_.with([&](const known& k) { return k.first(is_there); });
  if (found) return found;
  user made = std::make_shared<node>(where, ++nodes_made_, settings_, me_, loop_, listener_);
  return known_.with([&](known& k) {
    if (user faster = k.first(is_there)) return faster;
    auto free = std::find(k.nodes.begin(), k.nodes.end(), nullptr);
    if (free == k.nodes.end()) free = k.nodes.insert(free, nullptr);
    made->stand_at(static_cast<std::size_t>(free - k.nodes.begin()));
    *free = made;
    return made;
  });
}

slot_map::user slot_map::has(std::uint16_t slot) const noexcept {
  return known_.with([&](const known& k) {
    const std::uint16_t number = k.route[slot];
    return number == no_node ? nullptr : k.nodes[number];
  });
}

slot_map::user slot_map::numbered(std::uint64_t serial) const noexcept {
  return known_.with([&](const known& k) { return k.first([&](const node& n) { return n.serial() == serial; }); });
}

std::vector<bool> slot_map::known::with_slots() const {
  std::vector<bool> all(nodes.size());
  for (const std::uint16_t number : route) {
    if (number != no_node) all[number] = true;
  }
  return all;
}

std::vector<std::string> slot_map::primaries() const {
  std::vector<std::string> all;
  known_.with([&](const known& k) {
    const std::vector<bool> with_slots = k.with_slots();
    for (std::size_t n = 0; n < with_slots.size(); ++n) {
      if (with_slots[n]) all.push_back(text_of(k.nodes[n]->at()));
    }
  });
  std::sort(all.begin(), all.end());
  return all;
}

slot_map::user slot_map::named(const std::string& primary) const {
  return known_.with(
      [&](const known& k) { return k.first([&](const node& n) { return text_of(n.at()) == primary; }); });
}

task<std::optional<storage::failure>> slot_map::ensure_loaded(io& i, limit l) {
  const bool mapped = known_.with([](const known& k) { return k.mapped; });
  if (mapped) co_return std::nullopt;
  std::optional<storage::failure> lost = co_await refresh(i, std::move(l));
  co_return lost;
}

/// Connected nodes come first, then those that may be reachable, including forgotten seeds, and failed ones last.
std::vector<endpoint> slot_map::nodes_to_ask() const {
  std::vector<endpoint> by_rank[3];
  known_.with([&](const known& k) {
    for (const user& each : k.nodes) {
      if (!each) continue;
      const std::size_t rank = each->has_failed() ? 2 : each->to_server().events().is_open() ? 0 : 1;
      by_rank[rank].push_back(each->at());
    }
    for (const endpoint& seed : settings_.seeds) {
      if (!k.first([&](const node& n) { return n.at() == seed; })) by_rank[1].push_back(seed);
    }
  });
  std::vector<endpoint> endpoints;
  for (const auto& some : by_rank) endpoints.insert(endpoints.end(), some.begin(), some.end());
  return endpoints;
}

task<std::optional<storage::failure>> slot_map::refresh(io& i, limit l) {
  command ask(2);
  ask.add("CLUSTER").add("SLOTS");
  std::optional<storage::failure> why;
  for (const endpoint& each : nodes_to_ask()) {
    if (i.now() >= l.at() || l.stop().stop_requested()) break;
    const routed_command question{&ask, 0, nullptr};
    const limit soon(std::min(l.at(), later(i.now(), settings_.timeout)), l.stop());
    const user asked = at(each);
    reply got = co_await asked->run(i, question, soon);
    if (const std::string* const error = error_in(got, &ask)) {
      why = meaning_of(*error, settings_.prefix);
    } else if (auto* const failed = std::get_if<storage::failure>(&got)) {
      if (!why || !why->permanent()) why = std::move(*failed);
    } else if (const auto ranges = slots_in(std::get<value>(got), each); ranges && !ranges->empty()) {
      apply(*ranges);
      co_return std::nullopt;
    } else {
      why = storage::failure(errc::not_ready, "it is in no cluster yet (" + text_of(each) + ")");
    }
  }
  if (!why) why = storage::failure::late("no time is left");
  why->text = "no node of the cluster says who has which slot: " + why->text;
  co_return why;
}

void slot_map::apply(const std::vector<slot_range>& ranges) {
  std::vector<user> owners;
  owners.reserve(ranges.size());
  for (const slot_range& each : ranges) owners.push_back(at(each.primary));
  routes route;
  route.fill(no_node);
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    const auto number = static_cast<std::uint16_t>(owners[n]->number());
    for (unsigned slot = ranges[n].first; slot <= ranges[n].last; ++slot) route[slot] = number;
  }
  const routes before = known_.with([&](known& k) {
    k.mapped = true;
    return std::exchange(k.route, route);
  });
  if (before != route) tell_of_changes(before, route);
  forget_soon();
}

/// The data of a node that was replaced may be lost, and doubts about that node no longer concern the one that replaced
/// it.
void slot_map::tell_of_changes(const routes& before, const routes& now) noexcept {
  listener_.back();
  std::set<std::uint16_t> new_owners;
  for (std::size_t slot = 0; slot < now.size(); ++slot) {
    const std::uint16_t old = before[slot], owner = now[slot];
    if (old == owner || old == no_node || owner == no_node || new_owners.contains(owner)) continue;
    if (std::find(now.begin(), now.end(), old) == now.end()) new_owners.insert(owner);
  }
  for (const std::uint16_t owner : new_owners) listener_.in_doubt(storage::shard(owner) + 1);
}

void slot_map::apply_redirect(const redirection& moved) {
  const user owner = at(moved.to);
  known_.with([&](known& k) { k.route[moved.slot] = static_cast<std::uint16_t>(owner->number()); });
  refresh_soon();
}

/// Once for all callers: thousands may ask at the same time.
void slot_map::refresh_soon() noexcept {
  if (ending_.stop_requested() || refreshing_.exchange(true)) return;
  try {
    loop_.start();
    tasks_.spawn(refresh_and_pause());
  } catch (const std::exception&) {
    refreshing_ = false;
  }
}

task<void> slot_map::refresh_and_pause() {
  const struct ending {
    std::atomic<bool>& refreshing;
    ~ending() { refreshing = false; }
  } at_the_end{refreshing_};
  const limit l(later(loop_.now(), 2 * settings_.connect_timeout), ending_.get_token());
  const std::optional<storage::failure> why = co_await refresh(loop_, l);
  (void)why;  // a caller with trouble asks for it again
  const wake over = co_await sleep(loop_, limit(later(loop_.now(), between_maps), ending_.get_token()));
  (void)over;
}

bool slot_map::is_seed(const node& n) const noexcept {
  return std::ranges::any_of(settings_.seeds, [&](const endpoint& each) { return each == n.at(); });
}

/// A seed that has failed is kept, so that it is asked last.
bool slot_map::collect_unused(std::vector<user>& unused) {
  return known_.with([&](known& k) {
    const std::vector<bool> with_slots = k.with_slots();
    bool some_left = false;
    for (std::size_t n = 0; n < with_slots.size(); ++n) {
      user& each = k.nodes[n];
      if (!each || with_slots[n] || (each->has_failed() && is_seed(*each))) continue;
      const bool used = each.use_count() > 1;  // other threads get a pointer only under the lock
      if (!used) unused.push_back(std::move(each));
      some_left = some_left || used;
    }
    return some_left;
  });
}

void slot_map::forget_soon() {
  if (ending_.stop_requested() || forgetting_.exchange(true)) return;
  try {
    loop_.start();
    tasks_.spawn(forget());
  } catch (const std::exception&) {
    forgetting_ = false;  // the next map is another chance
  }
}

/// A node is closed on the worker thread, because closing waits for its tasks on the loop. It is destroyed here, on the
/// loop, where none of its connections is in use.
task<void> slot_map::forget() {
  for (;;) {
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), before_forgetting), ending_.get_token()));
    if (why == wake::stopped) co_return;
    forgetting_ = false;  // a map that is loaded from now on starts another task
    std::vector<user> unused;
    const bool some_left = collect_unused(unused);
    while (!unused.empty()) {
      const auto closing = [&last = *unused.back()] {
        last.to_server().close();
        return true;
      };
      const bool closed = co_await runtime::blocking(loop_, closing);
      (void)closed;
      unused.pop_back();
    }
    if (!some_left || forgetting_.exchange(true)) co_return;
  }
}

void slot_map::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  std::vector<user> all;
  known_.with([&](const known& k) {
    std::copy_if(k.nodes.begin(), k.nodes.end(), std::back_inserter(all),
                 [](const user& each) { return each != nullptr; });
  });
  for (const user& each : all) each->to_server().close();
}

}  // namespace holdfast::redis
