#include "chaos/nemesis.hpp"

#include <algorithm>
#include <thread>

#include "chaos/event_channel.hpp"

namespace holdfast::chaos {

using namespace std::chrono_literals;
using kind = event::kind;

constexpr auto orphans_every = 4s;

nemesis::nemesis(topology& t, coordinator& o, std::uint64_t seed, std::function<void(role)> start_process)
    : topology_(t),
      coordinator_(o),
      start_process_(std::move(start_process)),
      faults_(topology_.faults()),
      choose_(seed) {}

void nemesis::step() {
  const instant next = std::chrono::steady_clock::now() + std::chrono::milliseconds(10 + below(60));
  const std::uint64_t what = below(48);
  if (what < 24) {
    inject_fault();
  } else if (what < 32) {
    stop_process();
  } else if (what < 36) {
    kill_process();
  }
  if (next > next_orphan_) make_orphan();
  std::this_thread::sleep_until(next);
  for (running_fault& w : running_) {
    if (w.until <= next) end(w);
  }
  std::erase_if(running_, [&](const running_fault& w) { return w.until <= next; });
}

void nemesis::heal() {
  for (running_fault& w : running_) end(w);
  running_.clear();
  begin("recovery", "all", 0ms, [this] { topology_.recover(); }, {});
}

void nemesis::begin(const std::string& name, const std::string& part, std::chrono::milliseconds longest,
                    const std::function<void()>& what, std::function<void()> end) {
  const bool taken =
      std::any_of(running_.begin(), running_.end(), [&](const running_fault& w) { return w.part == part; });
  if (taken) return;
  event e{.what = kind::fault, .yes = true, .at = now(), .value = ++last_};
  e.say(name);
  coordinator_.tell(e);
  what();
  const auto length = std::chrono::milliseconds(below(static_cast<std::uint64_t>(longest.count()) + 1));
  running_.push_back({e, part, std::move(end), std::chrono::steady_clock::now() + length});
  if (!running_.back().end) {
    this->end(running_.back());
    running_.pop_back();
  }
}

void nemesis::end(running_fault& w) {
  if (w.end) w.end();
  w.said.yes = false;
  w.said.at = now();
  coordinator_.tell(w.said);
}

void nemesis::inject_fault() {
  std::uint64_t sum = 0;
  for (const fault& f : faults_) sum += f.weight;
  std::uint64_t chosen = below(sum);
  for (const fault& f : faults_) {
    if (chosen < f.weight) return begin(f.name, f.part, f.longest, [&] { f.begin(choose_); }, f.end);
    chosen -= f.weight;
  }
}

std::optional<std::uint32_t> nemesis::victim() {
  process_table& processes = coordinator_.processes();
  std::vector<std::uint32_t> all;
  if (below(2) == 0) {
    all = coordinator_.ask([](const checker& c) {
      std::vector<std::uint32_t> found;
      for (const auto& [party, h] : c.holders()) found.push_back(process_of(party));
      return found;
    });
    std::erase_if(all, [&](std::uint32_t process) { return !processes.is(process, role::library); });
  }
  if (all.empty()) {
    all = processes.alive(role::library);
    for (const std::uint32_t process : processes.alive(role::naive)) all.push_back(process);
  }
  if (all.empty()) return {};
  return all[below(all.size())];
}

void nemesis::stop_process() {
  const auto who = victim();
  if (!who) return;
  process_table& processes = coordinator_.processes();
  begin(
      "process_standstill", "process " + std::to_string(*who), 2s, [&] { processes.stop(*who); },
      [&processes, n = *who] { processes.resume(n); });
}

void nemesis::kill_process() {
  const auto who = victim();
  if (!who) return;
  process_table& processes = coordinator_.processes();
  const role what = processes.is(*who, role::naive) ? role::naive : role::library;
  processes.kill(*who);
  start_process_(what);
}

void nemesis::make_orphan() {
  heal();
  std::this_thread::sleep_for(settling);
  const auto find = [](const checker& c) -> std::optional<hold> {
    for (const auto& [party, h] : c.holders()) {
      if (locks[h.lock].what == lock::kind::exclusive && h.lock != naive_lock && h.over == 0) return h;
    }
    return {};
  };
  const instant end = std::chrono::steady_clock::now() + 10s;
  const auto wait_for = [&](auto condition) {
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  };
  std::optional<hold> dead;
  wait_for([&] { return (dead = coordinator_.ask(find)).has_value(); });
  if (!dead) return;
  coordinator_.processes().kill(process_of(dead->party));
  start_process_(role::library);
  const auto grants = [&](const checker& c) { return c.grants_of(dead->lock); };
  const std::uint64_t before = coordinator_.ask(grants);
  wait_for([&] { return coordinator_.ask(grants) > before; });
  next_orphan_ = std::chrono::steady_clock::now() + orphans_every;
}

}  // namespace holdfast::chaos
