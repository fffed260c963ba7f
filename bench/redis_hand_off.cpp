#include <array>
#include <atomic>
#include <holdfast/holdfast.hpp>
#include <map>
#include <thread>

#include "bench.hpp"
#include "publish_and_retry.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int rounds = 3;

/// Shared by all processes.
struct board {
  std::atomic<int> there{0};
  std::atomic<bool> counts{false}, over{false};
  std::atomic<int> holder{-1};  // the last one
  std::atomic<double> released{0};
  std::atomic<std::size_t> hand_offs{0};
  std::array<double, 50'000> took{};
};

/// The result of a run: microseconds from the call of release() in one process to the return of acquire() in another.
struct run {
  double half, late, rate;
};

struct ours {
  /// The first acquisition opens all connections; every process gets its turn.
  explicit ours(const redis_server& s) : store(holdfast::open(s.url())) {
    hold([] {});
  }
  template <class F>
  void hold(F f) {
    holdfast::lease held = store.acquire("train/001");
    f();
    held.release();
  }
  holdfast::store store;
};

/// Which waiter is next is random, so a process may wait for very long.
struct theirs {
  explicit theirs(const redis_server& s) : lock(s.port(), "train/001") {}
  template <class F>
  void hold(F f) {
    lock.lock();
    f();
    lock.unlock();
  }
  publish_and_retry lock;
};

/// Acquires, holds and releases the lock repeatedly. Repeated acquisitions by one process do not count.
template <class Lock>
void play(const redis_server& server, board& b, int me, double microseconds) {
  Lock lock(server);
  const auto inside = [&] {
    const double got = microseconds_now();
    if (b.holder.exchange(me) != me && b.counts) {
      const std::size_t n = b.hand_offs++;
      if (n < b.took.size()) b.took[n] = got - b.released;
    }
    work(microseconds);
    b.released = microseconds_now();
  };
  ++b.there;
  while (!b.over) lock.hold(inside);
}

template <class Lock>
run between_processes(int count, double microseconds, std::chrono::milliseconds length) {
  const redis_server server;
  board& b = shared<board>();
  std::vector<process> players;
  for (int n = 0; n < count; ++n) players.emplace_back([&, n] { play<Lock>(server, b, n, microseconds); });
  while (b.there < count) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  b.counts = true;
  const seconds began = now();
  std::this_thread::sleep_for(length);
  b.counts = false;
  const seconds passed = now() - began;
  const std::size_t n = std::min(b.hand_offs.load(), b.took.size());
  const std::vector<double> took(b.took.begin(), b.took.begin() + static_cast<std::ptrdiff_t>(n));
  players.clear();  // killed, since waiters may never be served
  ::munmap(&b, sizeof b);
  if (took.empty()) return {0, 0, 0};
  return {median(took), at_share(took, 0.99), static_cast<double>(n) / passed.count()};
}

/// Changes of the holding thread per second, for threads of one store.
double between_threads(int count, std::chrono::milliseconds length) {
  const redis_server server;
  holdfast::store store = holdfast::open(server.url());
  std::atomic<bool> over{false};
  int holder = -1;
  std::uint64_t changes = 0;
  std::vector<std::thread> all;
  const seconds began = now();
  for (int me = 0; me < count; ++me) {
    all.emplace_back([&, me] {
      while (!over) {
        const holdfast::lease held = store.acquire("train/001");
        if (std::exchange(holder, me) != me) ++changes;
      }
    });
  }
  std::this_thread::sleep_for(length);
  over = true;
  for (std::thread& t : all) t.join();
  return static_cast<double>(changes) / (now() - began).count();
}

run median_of(const std::vector<run>& all) {
  std::vector<double> half, late, rate;
  for (const run& r : all) {
    half.push_back(r.half);
    late.push_back(r.late);
    rate.push_back(r.rate);
  }
  return {median(half), median(late), median(rate)};
}

void report(const std::string& who, const std::vector<run>& runs, std::vector<figure>& all) {
  const run r = median_of(runs);
  all.push_back({who + ", p50", r.half, "us"});
  all.push_back({who + ", p99", r.late, "us"});
  all.push_back({who + ", rate", r.rate, "hand-offs/s"});
}

/// By number of processes, with the lock held for 300 us.
void curve(std::vector<figure>& all) {
  std::map<int, std::vector<run>> granted, retried;
  std::vector<double> growth;
  for (int round = 0; round < rounds; ++round) {
    for (int count = 2; count <= 256; count *= 2) {
      granted[count].push_back(between_processes<ours>(count, 300, 400ms));
      retried[count].push_back(between_processes<theirs>(count, 300, count < 64 ? 400ms : 800ms));
    }
    growth.push_back(granted[256].back().half / granted[8].back().half);
  }
  for (const auto& [count, runs] : granted) {
    const std::string who = "redis, hand-off, " + std::to_string(count) + " processes";
    report(who, runs, all);
    report(who + ", publish and retry", retried[count], all);
  }
  const double grown = median(growth);
  all.push_back({"redis, hand-off, p50, 256 to 8 processes", grown, "x", "at most 1.5", grown <= 1.5});
}

/// Releases at once.
void empty_section(std::vector<figure>& all) {
  std::vector<run> granted, retried;
  std::vector<double> threads, ratios;
  for (int round = 0; round < rounds; ++round) {
    granted.push_back(between_processes<ours>(8, 0, 400ms));
    retried.push_back(between_processes<theirs>(8, 0, 400ms));
    threads.push_back(between_threads(8, 400ms));
    ratios.push_back(threads.back() / granted.back().rate);
  }
  report("redis, hand-off, 8 processes, empty section", granted, all);
  report("redis, hand-off, 8 processes, empty section, publish and retry", retried, all);
  all.push_back({"redis, hand-off, 8 threads of one store, empty section", median(threads), "hand-offs/s"});
  const double ratio = median(ratios);
  all.push_back({"redis, hand-off, 8 threads to 8 processes, rate", ratio, "x", "at least 5", ratio >= 5});
}

}  // namespace

void redis_hand_off(std::vector<figure>& all) {
  curve(all);
  empty_section(all);
}

}  // namespace bench
