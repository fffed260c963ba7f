// Signals that are set and stopped, and whose limit ends, at the same time: nothing is lost or delivered twice.
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "runtime/guarded.hpp"
#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"
#include "support/started.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

/// Waits for one signal per round, first for a short time and then without a limit. A signal exists for one round only,
/// and the setter finds it through a guarded table.
struct rounds {
  guarded<signal*> table;
  std::atomic<int> round{0};
  std::atomic<int> signalled_late{0};
};

task<int> wait_in_rounds(io& i, rounds& r, int n) {
  int signalled = 0;
  for (int k = 1; k <= n; ++k) {
    signal mine;
    r.table.with([&](signal*& at) { at = &mine; });
    r.round = k;
    r.round.notify_one();
    wake why = co_await wait(i, mine, limit(i.now() + std::chrono::microseconds(k % 30)));
    if (why == wake::late) {
      ++r.signalled_late;
      why = co_await wait(i, mine);
    }
    if (why == wake::signalled) ++signalled;
    r.table.with([&](signal*& at) { at = nullptr; });
  }
  co_return signalled;
}

void set_in_rounds(rounds& r, int n) {
  for (int k = 1; k <= n; ++k) {
    for (int now = r.round; now < k; now = r.round) r.round.wait(now);
    for (int spin = 0; spin < (k * 7) % 200; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    r.table.with([](signal*& at) {
      if (at != nullptr) at->set();
    });
  }
}

constexpr int race_rounds = 2'000;

TEST(signal_race, set_and_limit_lose_nothing_inline) {
  rounds r;
  std::thread setter([&] { set_in_rounds(r, race_rounds); });
  inline_io here;
  EXPECT_EQ(run_inline(wait_in_rounds(here, r, race_rounds)), race_rounds);
  setter.join();
}

TEST(signal_race, set_and_timer_lose_nothing_on_the_loop) {
  rounds r;
  loop l;
  l.start();
  task_group running(l);
  std::future<int> signalled = test::start(running, wait_in_rounds(l, r, race_rounds));
  set_in_rounds(r, race_rounds);
  EXPECT_EQ(test::get(std::move(signalled)), race_rounds);
  running.wait_until_empty();
}

struct stop_rounds {
  std::atomic<int> round{0};
  std::atomic<int> seen{0};
  guarded<std::stop_source> stop;
  guarded<signal*> table;
};

task<int> wait_and_be_stopped_in_rounds(io& i, stop_rounds& r, int n) {
  int right = 0;
  for (int k = 1; k <= n; ++k) {
    signal mine;
    std::stop_source stop;
    r.table.with([&](signal*& at) { at = &mine; });
    r.stop.with([&](std::stop_source& at) { at = stop; });
    r.round = k;
    r.round.notify_all();
    const wake first = co_await wait(i, mine, limit(never, stop.get_token()));
    // If it was stopped, the set must still arrive. If it was signalled, a later stop must not be remembered.
    const wake second = co_await wait(i, mine, limit(first == wake::stopped ? never : i.now()));
    if (first == wake::stopped && second == wake::signalled) ++right;
    if (first == wake::signalled && second == wake::late) ++right;
    r.table.with([&](signal*& at) { at = nullptr; });
    for (int ended = r.seen; ended < 2 * k; ended = r.seen) r.seen.wait(ended);
  }
  co_return right;
}

TEST(signal_race, set_and_stop_lose_nothing_inline) {
  stop_rounds r;
  const auto in_rounds = [&](const auto& act) {
    for (int k = 1; k <= race_rounds; ++k) {
      for (int now = r.round; now < k; now = r.round) r.round.wait(now);
      act();
      ++r.seen;
      r.seen.notify_one();
    }
  };
  std::thread setter([&] {
    in_rounds([&] {
      r.table.with([](signal*& at) {
        if (at != nullptr) at->set();
      });
    });
  });
  std::thread stopper([&] {
    in_rounds([&] {
      std::stop_source stop = r.stop.with([](const std::stop_source& at) { return at; });
      stop.request_stop();
    });
  });
  inline_io here;
  EXPECT_EQ(run_inline(wait_and_be_stopped_in_rounds(here, r, race_rounds)), race_rounds);
  setter.join();
  stopper.join();
}

task<void> answer_in_turn(io& i, signal& mine, signal& theirs, int n) {
  for (int k = 0; k < n; ++k) {
    const wake why = co_await wait(i, mine);
    (void)why;
    theirs.set();
  }
}

TEST(signal_race, two_threads_wake_each_other_without_losing_a_wakeup) {
  signal there, back;
  std::thread other([&] {
    inline_io here;
    run_inline(answer_in_turn(here, there, back, race_rounds));
  });
  inline_io here;
  there.set();
  run_inline(answer_in_turn(here, back, there, race_rounds - 1));
  EXPECT_EQ(run_inline(sleep(here, within(0s))), wake::late);
  other.join();
}

TEST(signal_race, thread_and_loop_wake_each_other_without_loss) {
  signal there, back;
  loop l;
  l.start();
  task_group running(l);
  running.spawn(answer_in_turn(l, there, back, race_rounds));
  inline_io here;
  there.set();
  run_inline(answer_in_turn(here, back, there, race_rounds - 1));
  running.wait_until_empty();
}

}  // namespace
}  // namespace holdfast::runtime
