#include "redis/slot_map.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "redis/error_reply.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using net::url;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr milliseconds between_maps = 100ms;

bool same(const url::place& one, const url::place& other) { return one.port == other.port && one.host == other.host; }

}  // namespace

slot_map::slot_map(const settings& s, const identity& me, runtime::loop& loop, listener& who)
    : settings_(s), me_(me), loop_(loop), listener_(who) {
  for (const url::place& each : settings_.seeds) (void)at(each);
}

node& slot_map::at(const url::place& where) {
  return known_.with([&](known& k) -> node& {
    for (const auto& each : k.nodes) {
      if (same(each->at(), where)) return *each;
    }
    k.nodes.push_back(std::make_unique<node>(where, k.nodes.size(), settings_, me_, loop_, listener_));
    return *k.nodes.back();
  });
}

node* slot_map::has(std::uint16_t slot) const noexcept {
  return known_.with([&](const known& k) {
    const std::uint16_t number = k.route[slot];
    return number == nobody ? nullptr : k.nodes[number].get();
  });
}

node& slot_map::numbered(std::size_t n) const noexcept {
  return known_.with([&](const known& k) -> node& { return *k.nodes[n]; });
}

std::vector<std::string> slot_map::primaries() const {
  std::vector<std::string> all;
  known_.with([&](const known& k) {
    std::vector<bool> taken(k.nodes.size());
    for (const std::uint16_t number : k.route) {
      if (number == nobody || taken[number]) continue;
      taken[number] = true;
      all.push_back(text_of(k.nodes[number]->at()));
    }
  });
  std::sort(all.begin(), all.end());
  return all;
}

node& slot_map::named(const std::string& primary) const noexcept {
  return known_.with([&](const known& k) -> node& {
    for (const auto& each : k.nodes) {
      if (text_of(each->at()) == primary) return *each;
    }
    return *k.nodes.front();
  });
}

task<std::optional<seam::failure>> slot_map::make_sure(io& i, limit l) {
  const bool mapped = known_.with([](const known& k) { return k.mapped; });
  if (mapped) co_return std::nullopt;
  std::optional<seam::failure> lost = co_await draw(i, std::move(l));
  co_return lost;
}

/// Those first that are connected; then those that may be; those last that were not there.
std::vector<url::place> slot_map::whom_to_ask() const {
  return known_.with([](const known& k) {
    const auto rank = [](const node& n) {
      return n.way().main().listens() && !n.has_failed() ? 0 : n.has_failed() ? 2 : 1;
    };
    std::vector<url::place> places;
    for (const int wanted : {0, 1, 2}) {
      for (const auto& each : k.nodes) {
        if (rank(*each) == wanted) places.push_back(each->at());
      }
    }
    return places;
  });
}

task<std::optional<seam::failure>> slot_map::draw(io& i, limit l) {
  command ask(2);
  ask.add("CLUSTER").add("SLOTS");
  std::optional<seam::failure> why;
  for (const url::place& each : whom_to_ask()) {
    if (i.now() >= l.at() || l.stop().stop_requested()) break;
    std::optional<left_behind> nobody_minds;
    const errand question{&ask, 0, &nobody_minds};
    const limit soon(std::min(l.at(), later(i.now(), settings_.timeout)), l.stop());
    reply got = co_await at(each).run(i, question, soon);
    if (const std::string* const error = error_in(got, &ask)) {
      why = meaning_of(*error, settings_.prefix);
    } else if (auto* const failed = std::get_if<seam::failure>(&got)) {
      if (!why || !why->permanent()) why = std::move(*failed);
    } else if (const auto ranges = slots_in(std::get<value>(got), each); ranges && !ranges->empty()) {
      learn(*ranges);
      co_return std::nullopt;
    } else {
      why = seam::failure(errc::not_ready, "it is in no cluster yet (" + text_of(each) + ")");
    }
  }
  if (!why) why = seam::failure(errc::unreachable, "no time is left");
  why->text = "no node of the cluster says who has which slot: " + why->text;
  co_return why;
}

void slot_map::learn(const std::vector<slot_range>& ranges) {
  std::vector<std::uint16_t> numbers;
  numbers.reserve(ranges.size());
  for (const slot_range& each : ranges) numbers.push_back(static_cast<std::uint16_t>(at(each.primary).number()));
  routes route;
  route.fill(nobody);
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    for (unsigned slot = ranges[n].first; slot <= ranges[n].last; ++slot) route[slot] = numbers[n];
  }
  const routes before = known_.with([&](known& k) {
    k.mapped = true;
    return std::exchange(k.route, route);
  });
  if (before != route) tell_of_changes(before, route);
}

/// What lay on a node that was replaced may be lost, and doubts about that one do not look there any more.
void slot_map::tell_of_changes(const routes& before, const routes& now) noexcept {
  listener_.back();
  std::set<std::uint16_t> heirs;
  for (std::size_t slot = 0; slot < now.size(); ++slot) {
    const std::uint16_t old = before[slot], heir = now[slot];
    if (old == heir || old == nobody || heir == nobody || heirs.contains(heir)) continue;
    if (std::find(now.begin(), now.end(), old) == now.end()) heirs.insert(heir);
  }
  for (const std::uint16_t heir : heirs) listener_.in_doubt(seam::shard(heir) + 1);
}

void slot_map::learn(const redirection& moved) {
  const auto number = static_cast<std::uint16_t>(at(moved.to).number());
  known_.with([&](known& k) { k.route[moved.slot] = number; });
  draw_soon();
}

/// Not again at once: thousands may come at the same time.
void slot_map::draw_soon() noexcept {
  if (ending_.stop_requested() || drawing_.exchange(true)) return;
  try {
    loop_.start();
    tasks_.spawn(draw_again());
  } catch (const std::exception&) {
    drawing_ = false;
  }
}

task<void> slot_map::draw_again() {
  const struct ending {
    std::atomic<bool>& drawing;
    ~ending() { drawing = false; }
  } at_the_end{drawing_};
  const limit l(later(loop_.now(), 2 * settings_.connect_timeout), ending_.get_token());
  const std::optional<seam::failure> why = co_await draw(loop_, l);
  (void)why;  // whoever has trouble asks for it again
  const wake over = co_await sleep(loop_, limit(later(loop_.now(), between_maps), ending_.get_token()));
  (void)over;
}

void slot_map::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  std::vector<node*> all;
  known_.with([&](known& k) {
    for (const auto& each : k.nodes) all.push_back(each.get());
  });
  for (node* const each : all) each->way().close();
}

}  // namespace holdfast::redis
