#include "chaos/run.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <random>
#include <thread>

#include "chaos/coordinator.hpp"
#include "chaos/event_channel.hpp"
#include "chaos/nemesis.hpp"
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

class chaos_run {
 public:
  chaos_run(const plan& p, topology& t, history& h, checker& c)
      : plan_(p), topology_(t), coordinator_(c, h), seeds_(p.seed) {
    for (const role r : {role::library, role::library, role::library, role::library, role::library, role::naive,
                         role::naive, role::program}) {
      start_process(r);
    }
  }

  void inject_faults() {
    nemesis bad(topology_, coordinator_, seeds_(), [this](role r) { start_process(r); });
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

  /// Without faults, each call must get its lock.
  void recover() {
    coordinator_.set_limit(test::hang);
    std::this_thread::sleep_for(2 * settling);
    const std::uint64_t enough = grants() + 20;
    (void)eventually([&] { return grants() >= enough; });
    (void)eventually([&] { return coordinator_.ask([](const checker& c) { return c.naive_failed(); }); });
    coordinator_.close();
    if (eventually([&] { return !coordinator_.processes().any(); })) return;
    event hangs{.what = kind::died, .value = -1};
    tell(hangs);
  }

  void inspect_locks() {
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
    coordinator_.tell(e);
  }
  std::uint64_t grants() {
    return coordinator_.ask([](const checker& c) { return c.grants(); });
  }
  bool broken() {
    return coordinator_.ask([](const checker& c) { return !c.found().empty(); });
  }
  void start_process(role r) {
    const std::string where = r == role::naive ? topology_.naive_sockets() : topology_.url(started_++);
    (void)coordinator_.processes().start(r, where, seeds_(), topology_.shares());
  }
  void progress(std::chrono::seconds so_far) {
    coordinator_.ask([&](checker& c) {
      c.look();
      std::cout << so_far.count() << " s: " << c.grants() << " grants, " << c.losses_seen() << " losses, " << c.faults()
                << " faults, " << c.found().size() << " violations" << std::endl;
    });
  }

  const plan& plan_;
  topology& topology_;
  coordinator coordinator_;
  choices seeds_;
  unsigned started_ = 0;
};

bool judge(checker& c) {
  c.finish();
  c.figures(std::cout);
  print(c.found());
  if (!c.naive_failed()) std::cout << "the naive lock did not fail: this run could not have found anything\n";
  if (c.grants() < enough_grants) std::cout << "too few grants for a meaningful run\n";
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
    chaos_run all(p, *servers, written, checks);
    all.inject_faults();
    all.recover();
    all.inspect_locks();
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
