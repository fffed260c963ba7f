#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "chaos/client.hpp"
#include "chaos/locks.hpp"
#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"

namespace holdfast::chaos {

namespace {

using namespace std::chrono_literals;
using kind = event::kind;

/// One thread of a client process.
class worker {
 public:
  worker(const assignment& a, std::uint32_t thread, event_channel& coordinator, store service)
      : coordinator_(coordinator), store_(std::move(service)), shares_(a.shares), choose_(a.seed * 16 + thread) {
    me_.party = a.process * threads + thread;
  }

  void work() {
    for (;;) {
      const reply go_on = coordinator_.ask(at_now(kind::next));
      if (!go_on.yes) return;
      take_turn(std::chrono::milliseconds(go_on.value));
    }
  }

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return choose_() % n; }

  [[nodiscard]] event at_now(kind what) const {
    event e = me_;
    e.what = what;
    e.at = now();
    return e;
  }

  void choose_lock() {
    // Two of three calls are for exclusive locks.
    me_.lock = static_cast<std::uint8_t>(below(shares_ && below(3) == 0 ? naive_lock : first_shared));
    me_.part = 0;
    if (locks[me_.lock].what == lock::kind::shared) me_.part = below(3) == 0 ? 0 : 1;
    if (locks[me_.lock].what == lock::kind::permits) me_.part = static_cast<std::uint8_t>(1 + below(2));
  }

  void take_turn(std::chrono::milliseconds limit) {
    choose_lock();
    const std::chrono::milliseconds ttl(400 + below(800));
    const bool renewed = below(6) != 0;
    event call = at_now(kind::calls);
    call.value = ttl.count();
    call.deadline = call.at + std::chrono::nanoseconds(limit).count();
    coordinator_.tell(call);
    try {
      std::optional<lease> held = take(within(limit), {.ttl = ttl, .renew = renewed, .shared = me_.part != 0});
      if (held) {
        hold(std::move(*held), renewed ? 0ms : ttl);
      } else {
        coordinator_.tell(at_now(kind::busy));
      }
    } catch (const lock_error& e) {
      event failed = at_now(kind::failed);
      failed.value = e.code().value();
      coordinator_.tell(failed);
    }
  }

  std::optional<lease> take(const limit& l, lock_options o) {
    const lock& which = locks[me_.lock];
    if (which.what != lock::kind::permits) return store_.try_acquire(which.name, l, o);
    o.shared = false;
    semaphore desks(store_, which.name, which.permits, o);
    return desks.try_take(l, me_.part);
  }

  /// If `outlive` is not zero, the lease is sometimes used for longer than that without being renewed.
  void hold(lease mine, std::chrono::milliseconds outlive) {
    event got = at_now(kind::granted);
    me_.fence = got.fence = mine.fence();
    got.deadline = deadline_of(mine);
    coordinator_.tell(got);
    std::atomic<std::int64_t> told{0};
    const std::stop_callback listen(mine.lost_token(), [&told] { told = now(); });
    last_deadline_ = got.deadline;
    const std::uint64_t steps = below(5);
    bool held = look(mine);
    for (std::uint64_t n = 0; n < steps && held; ++n) {
      add();
      held = look(mine);
    }
    if (held && outlive > 0ms && below(3) == 0) {
      std::this_thread::sleep_for(outlive);
      add();  // a stale write, which the fence must reject
      held = look(mine);
    }
    if (!held) wait_for_loss(told);
    event giving = at_now(kind::releases);
    giving.deadline = deadline_of(mine);
    coordinator_.tell(giving);
    const released said = mine.release();
    event gave = at_now(kind::released);
    gave.value = said == released::yes ? 0 : said == released::lost ? 1 : 2;
    coordinator_.tell(gave);
    me_.fence = 0;
  }

  void add() {
    if (locks[me_.lock].what == lock::kind::permits) {
      std::this_thread::sleep_for(std::chrono::microseconds(below(3000)));
    } else if (me_.part != 0) {
      (void)coordinator_.ask(at_now(kind::reads));
    } else if (below(2) == 0) {
      (void)add_fenced(coordinator_, me_, me_.fence, below(2000));
    } else {
      add_unfenced(coordinator_, me_, below(2000));
    }
  }

  /// Reads the clock before held() and the deadline after it, because the deadline only grows.
  bool look(const lease& mine) {
    event seen = at_now(kind::doubts);
    const bool held = mine.held();
    seen.deadline = deadline_of(mine);
    if (held && seen.deadline == 0) return look(mine);  // it was lost in between
    if (held) seen.what = kind::believes;
    last_deadline_ = std::max(last_deadline_, seen.deadline);
    coordinator_.tell(seen);
    return held;
  }

  void wait_for_loss(const std::atomic<std::int64_t>& told) {
    const auto patience = std::chrono::steady_clock::now() + test::hang;
    while (told == 0 && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(1ms);
    event heard = at_now(told == 0 ? kind::untold : kind::told);
    if (told != 0) heard.at = told;
    heard.deadline = last_deadline_;
    coordinator_.tell(heard);
  }

  /// 0 if the lease has ended.
  static std::int64_t deadline_of(const lease& l) {
    const boot_clock::time_point d = l.deadline();
    return d == boot_clock::time_point::min() ? 0 : d.time_since_epoch().count();
  }

  event_channel& coordinator_;
  store store_;
  const bool shares_;
  std::mt19937_64 choose_;
  event me_;
  std::int64_t last_deadline_ = 0;
};

std::int64_t entries_of(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

void tell_stock(const assignment& a, event_channel& coordinator) {
  event e{.what = kind::stock};
  e.party = a.process * threads;
  e.at = now();
  e.value = entries_of("/proc/self/fd");
  e.deadline = entries_of("/proc/self/task");
  std::uint64_t size = 0;
  std::ifstream("/proc/self/statm") >> size >> e.fence;
  e.fence *= 4;
  coordinator.tell(e);
}

}  // namespace

void run_library_client(const assignment& a, event_channel& coordinator) {
  store service = open(a.where, {.patience = 2s});
  tell_stock(a, coordinator);
  std::vector<std::jthread> all;
  for (std::uint32_t n = 0; n < threads; ++n) {
    all.emplace_back([&, n] { worker(a, n, coordinator, service).work(); });
  }
  all.clear();
  tell_stock(a, coordinator);
}

}  // namespace holdfast::chaos
