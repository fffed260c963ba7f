#include <array>
#include <atomic>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <thread>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

/// Acquire-release pairs per second by this many threads in one slice; `make(n)` returns the work of thread n.
template <class Make>
double pairs_a_second(int threads, Make make, seconds length) {
  std::atomic<bool> go{false}, over{false};
  std::atomic<std::uint64_t> pairs{0};
  std::vector<std::thread> all;
  for (int n = 0; n < threads; ++n) {
    all.emplace_back([&, n] {
      auto pair = make(n);
      pair();  // opens connections and loads scripts
      while (!go) std::this_thread::yield();
      std::uint64_t mine = 0;
      for (; !over; ++mine) pair();
      pairs += mine;
    });
  }
  std::this_thread::sleep_for(20ms);
  const seconds began = now();
  go = true;
  std::this_thread::sleep_for(length);
  over = true;
  for (std::thread& t : all) t.join();
  return static_cast<double>(pairs) / (now() - began).count();
}

std::string name_of(int n) { return "shelf/" + std::to_string(n); }

void threads(const redis_server& server, int count, double least_or_most, std::vector<figure>& all) {
  holdfast::store store = holdfast::open(server.url());
  std::vector<double> ours, bare, ratios;
  for (int slice = 0; slice < 15; ++slice) {
    ours.push_back(pairs_a_second(
        count, [&](int n) { return [&store, name = name_of(n)] { const holdfast::lease held = store.acquire(name); }; },
        200ms));
    bare.push_back(pairs_a_second(
        count,
        [&](int n) {
          auto socket = std::make_shared<bare_socket>(server.port());
          const script_pair scripts(*socket, "bare/" + std::to_string(n));
          return [socket, acquire = resp(scripts.acquire), release = resp(scripts.release)] {
            (void)socket->ask(acquire);
            (void)socket->ask(release);
          };
        },
        200ms));
    ratios.push_back(ours.back() / bare.back());
  }
  const std::string who = "redis, " + std::to_string(count) + (count == 1 ? " thread" : " threads");
  all.push_back({who + ", acquire+release of a lease", median(ours), "pairs/s"});
  all.push_back({who + ", bare sockets, the same scripts", median(bare), "pairs/s"});
  if (count == 1) {
    const double ratio = 1 / median(ratios);
    all.push_back({who + ", time, ratio", ratio, "x", "at most 1.15", ratio <= least_or_most});
  } else {
    char bar[32];
    std::snprintf(bar, sizeof bar, "at least %.1f", least_or_most);
    all.push_back({who + ", rate, ratio", median(ratios), "x", bar, median(ratios) >= least_or_most});
  }
}

}  // namespace

void redis(std::vector<figure>& all) {
  const redis_server server;
  threads(server, 1, 1.15, all);
  threads(server, 4, 0.9, all);
  threads(server, 64, 1.3, all);
}

}  // namespace bench
