#include <holdfast/holdfast.hpp>

#include <atomic>
#include <thread>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

/// Acquisitions per second with four clients of eight threads each that hold one lock briefly.
double turns_a_second(const redis_server& server, bool fair) {
  constexpr int clients = 4, threads = 8;
  std::vector<holdfast::store> stores;
  for (int n = 0; n < clients; ++n) stores.push_back(holdfast::open(server.url()));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> turns{0};
  const seconds began = now();
  {
    std::vector<std::jthread> all;
    for (int n = 0; n < clients * threads; ++n) {
      all.emplace_back([&, mine = stores[static_cast<std::size_t>(n % clients)]]() mutable {
        while (!over) {
          const holdfast::lease held = mine.acquire("a", {.fair = fair});
          work(2);
          ++turns;
        }
      });
    }
    std::this_thread::sleep_for(1s);
    over = true;
  }
  return static_cast<double>(turns) / (now() - began).count();
}

}  // namespace

void redis_unfair(std::vector<figure>& all) {
  const redis_server server;
  std::vector<double> in_order, unfair, ratio;
  for (int slice = 0; slice < 5; ++slice) {
    in_order.push_back(turns_a_second(server, true));
    unfair.push_back(turns_a_second(server, false));
    ratio.push_back(unfair.back() / in_order.back());
  }
  all.push_back({"redis, 4 clients of 8 threads, one lock, in order", median(in_order), "turns/s"});
  all.push_back({"redis, the same with fair = false", median(unfair), "turns/s"});
  all.push_back({"redis, fair = false to in order, throughput", median(ratio), "x"});
}

}  // namespace bench
