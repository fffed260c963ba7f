#include "chaos/run.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <random>
#include <thread>

#include "chaos/line.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/office.hpp"
#include "chaos/topology.hpp"
#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"

namespace holdfast::chaos {

namespace {

using namespace std::chrono_literals;
using kind = event::kind;
using std::chrono::steady_clock;

constexpr std::uint64_t enough_grants = 100;  // a slow machine gets more time for them

template <class F>
bool eventually(F condition) {
  const auto end = steady_clock::now() + test::hang;
  while (!condition()) {
    if (steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

void print(const violations& all) {
  constexpr std::size_t most = 20;
  for (std::size_t n = 0; n < all.size() && n < most; ++n) {
    std::cout << "C" << all[n].condition << " broken at " << all[n].at << ": " << all[n].what << '\n';
  }
  if (all.size() > most) std::cout << "... and " << all.size() - most << " more\n";
}

class conductor {
 public:
  conductor(const plan& p, topology& t, history& h, checker& c)
      : plan_(p), topology_(t), office_(c, h), seeds_(p.seed) {
    for (const role r : {role::library, role::library, role::library, role::library, role::library, role::naive,
                         role::naive, role::program}) {
      hire(r);
    }
  }

  void rage() {
    nemesis bad(topology_, office_, seeds_(), [this](role r) { hire(r); });
    const auto begin = steady_clock::now();
    auto next = begin + 10s;
    const auto is_over = [&] {
      const auto length = steady_clock::now() - begin;
      return length >= plan_.time && (grants() >= enough_grants || length >= plan_.time + test::hang);
    };
    while (!is_over() && !broken()) {
      bad.step();
      if (steady_clock::now() < next) continue;
      next += 10s;
      progress(std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin));
    }
    bad.heal();
    event healed{.what = kind::healed};
    tell(healed);
  }

  /// Nothing is wrong any more: who asks now gets what it asks for.
  void calm_down() {
    office_.set_limit(test::hang);
    std::this_thread::sleep_for(2 * settling);
    const std::uint64_t enough = grants() + 20;
    (void)eventually([&] { return grants() >= enough; });
    (void)eventually([&] { return office_.ask([](const checker& c) { return c.naive_failed(); }); });
    office_.close();
    if (eventually([&] { return !office_.people().anybody(); })) return;
    event hangs{.what = kind::died, .value = -1};
    tell(hangs);
  }

  void look_around() {
    store fresh = open(topology_.url(0));
    constexpr lock_options how{.ttl = 1s};
    for (std::uint8_t n = 0; n < naive_lock; ++n) {
      const lock& which = locks[n];
      if (which.what != lock::kind::exclusive && !topology_.shares()) continue;
      event e{.what = kind::probe, .lock = n};
      const std::int64_t before = now();
      try {
        if (which.what == lock::kind::permits) {
          semaphore all(fresh, which.name, which.permits, how);
          e.yes = all.try_take(within(test::hang), which.permits).has_value();
        } else {
          e.yes = fresh.try_acquire(which.name, within(test::hang), how).has_value();
        }
      } catch (const lock_error& why) {
        e.say(why.what());
      }
      e.value = now() - before;
      tell(e);
    }
    std::vector<std::string> left;
    (void)eventually([&] { return (left = topology_.leftovers()).empty(); });
    for (const std::string& key : left) {
      event e{.what = kind::leftover};
      e.say(key);
      tell(e);
    }
  }

 private:
  void tell(event& e) {
    e.at = now();
    office_.tell(e);
  }
  std::uint64_t grants() {
    return office_.ask([](const checker& c) { return c.grants(); });
  }
  bool broken() {
    return office_.ask([](const checker& c) { return !c.found().empty(); });
  }
  void hire(role r) {
    const std::string where = r == role::naive ? topology_.naive_sockets() : topology_.url(hired_++);
    (void)office_.people().hire(r, where, seeds_(), topology_.shares());
  }
  void progress(std::chrono::seconds so_far) {
    office_.ask([&](checker& c) {
      c.look();
      std::cout << so_far.count() << " s: " << c.grants() << " grants, " << c.losses_seen() << " losses, " << c.faults()
                << " faults, " << c.found().size() << " violations" << std::endl;
    });
  }

  const plan& plan_;
  topology& topology_;
  office office_;
  choices seeds_;
  unsigned hired_ = 0;
};

bool judge(checker& c) {
  c.finish();
  c.figures(std::cout);
  print(c.found());
  if (!c.naive_failed()) std::cout << "the naive lock was not found out: this run could not have seen anything\n";
  if (c.grants() < enough_grants) std::cout << "a quiet run shows nothing\n";
  return c.found().empty() && c.naive_failed() && c.grants() >= enough_grants;
}

}  // namespace

bool run(const plan& p) {
  const std::unique_ptr<topology> servers = make_topology(p.topology);
  const std::string name =
      "holdfast-chaos-" + p.topology + "-" + std::to_string(p.seed) + "-" + std::to_string(::getpid()) + ".history";
  const bool named = !p.file.empty();
  history written(named ? p.file : (std::filesystem::temp_directory_path() / name).string(),
                  {p.topology, p.seed, servers->promised()});
  checker checks(servers->promised(), std::chrono::nanoseconds(p.slack).count());
  {
    conductor all(p, *servers, written, checks);
    all.rage();
    all.calm_down();
    all.look_around();
  }
  written.flush();
  std::cout << "== " << p.topology << ", seed " << p.seed << ", " << p.time.count() << " s\n";
  const bool fine = judge(checks);
  if (!fine || named) std::cout << "the history is in " << written.file() << '\n';
  if (fine && !named) std::filesystem::remove(written.file());
  std::cout << (fine ? "fine" : "BROKEN") << std::endl;
  return fine;
}

bool check(const std::string& file, std::chrono::milliseconds slack) {
  std::optional<checker> checks;
  replay(
      file,
      [&](const heading& h) {
        std::cout << "== " << h.topology << ", seed " << h.seed << '\n';
        checks.emplace(h.promised, std::chrono::nanoseconds(slack).count());
      },
      [&](const event& e) { checks->see(e); });
  return judge(*checks);
}

}  // namespace holdfast::chaos
