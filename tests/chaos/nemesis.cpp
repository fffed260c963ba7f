#include "chaos/nemesis.hpp"

#include <algorithm>
#include <thread>

#include "chaos/line.hpp"

namespace holdfast::chaos {

using namespace std::chrono_literals;
using kind = event::kind;

constexpr auto orphans_every = 4s;

nemesis::nemesis(topology& t, office& o, std::uint64_t seed, std::function<void(role)> hire)
    : topology_(t), office_(o), hire_(std::move(hire)), faults_(topology_.faults()), choose_(seed) {}

void nemesis::step() {
  const instant next = std::chrono::steady_clock::now() + std::chrono::milliseconds(10 + below(60));
  const std::uint64_t what = below(48);
  if (what < 24) {
    harm_servers();
  } else if (what < 32) {
    stop_somebody();
  } else if (what < 36) {
    kill_somebody();
  }
  if (next > next_orphan_) make_an_orphan();
  std::this_thread::sleep_until(next);
  for (wound& w : wounds_) {
    if (w.until <= next) end(w);
  }
  std::erase_if(wounds_, [&](const wound& w) { return w.until <= next; });
}

void nemesis::heal() {
  for (wound& w : wounds_) end(w);
  wounds_.clear();
  begin("recovery", "all", 0ms, [this] { topology_.recover(); }, {});
}

void nemesis::begin(const std::string& name, const std::string& part, std::chrono::milliseconds longest,
                    const std::function<void()>& what, std::function<void()> end) {
  const bool taken = std::any_of(wounds_.begin(), wounds_.end(), [&](const wound& w) { return w.part == part; });
  if (taken) return;
  event e{.what = kind::fault, .yes = true, .at = now(), .value = ++last_};
  e.say(name);
  office_.tell(e);
  what();
  const auto length = std::chrono::milliseconds(below(static_cast<std::uint64_t>(longest.count()) + 1));
  wounds_.push_back({e, part, std::move(end), std::chrono::steady_clock::now() + length});
  if (!wounds_.back().end) {
    this->end(wounds_.back());
    wounds_.pop_back();
  }
}

void nemesis::end(wound& w) {
  if (w.end) w.end();
  w.said.yes = false;
  w.said.at = now();
  office_.tell(w.said);
}

void nemesis::harm_servers() {
  std::uint64_t sum = 0;
  for (const fault& f : faults_) sum += f.weight;
  std::uint64_t chosen = below(sum);
  for (const fault& f : faults_) {
    if (chosen < f.weight) return begin(f.name, f.part, f.longest, [&] { f.begin(choose_); }, f.end);
    chosen -= f.weight;
  }
}

std::optional<std::uint32_t> nemesis::victim() {
  crew& people = office_.people();
  std::vector<std::uint32_t> all;
  if (below(2) == 0) {
    all = office_.ask([](const checker& c) {
      std::vector<std::uint32_t> found;
      for (const auto& [party, h] : c.holders()) found.push_back(process_of(party));
      return found;
    });
    std::erase_if(all, [&](std::uint32_t process) { return !people.is(process, role::library); });
  }
  if (all.empty()) {
    all = people.alive(role::library);
    for (const std::uint32_t process : people.alive(role::naive)) all.push_back(process);
  }
  if (all.empty()) return {};
  return all[below(all.size())];
}

void nemesis::stop_somebody() {
  const auto who = victim();
  if (!who) return;
  crew& people = office_.people();
  begin(
      "process_standstill", "process " + std::to_string(*who), 2s, [&] { people.stop(*who); },
      [&people, n = *who] { people.let_go(n); });
}

void nemesis::kill_somebody() {
  const auto who = victim();
  if (!who) return;
  crew& people = office_.people();
  const role what = people.is(*who, role::naive) ? role::naive : role::library;
  people.kill(*who);
  hire_(what);
}

void nemesis::make_an_orphan() {
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
  wait_for([&] { return (dead = office_.ask(find)).has_value(); });
  if (!dead) return;
  office_.people().kill(process_of(dead->party));
  hire_(role::library);
  const auto grants = [&](const checker& c) { return c.grants_of(dead->lock); };
  const std::uint64_t before = office_.ask(grants);
  wait_for([&] { return office_.ask(grants) > before; });
  next_orphan_ = std::chrono::steady_clock::now() + orphans_every;
}

}  // namespace holdfast::chaos
