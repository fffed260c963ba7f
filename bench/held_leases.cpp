#include "held_leases.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace bench {

namespace {

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto each = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return each(use.ru_utime) + each(use.ru_stime);
}

double bytes_in_use() {
  const struct mallinfo2 now = ::mallinfo2();
  return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

/// By some threads at once: where each is a round trip, it would take long by one.
std::vector<std::vector<holdfast::lease>> take(holdfast::store& store, std::size_t count, std::chrono::seconds ttl) {
  constexpr std::size_t threads = 16;
  std::vector<std::vector<holdfast::lease>> held(threads);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    held[t].reserve(count / threads + 1);
    all.emplace_back([&, t] {
      for (std::size_t n = t; n < count; n += threads) {
        held[t].push_back(store.acquire("shard/" + std::to_string(n), {.ttl = ttl}));
      }
    });
  }
  for (std::thread& t : all) t.join();
  return held;
}

std::string at_most(double bar) {
  char text[32];
  std::snprintf(text, sizeof text, "at most %g", bar);
  return text;
}

}  // namespace

void held_leases::measure(holdfast::store& store, std::vector<figure>& all) const {
  {
    const holdfast::lease first = store.acquire("warm up");
  }
  const double before = bytes_in_use();
  const std::vector<std::vector<holdfast::lease>> held = take(store, count, ttl);
  const std::string many = who + std::to_string(count) + " held leases";
  const double each = (bytes_in_use() - before) / static_cast<double>(count);
  all.push_back({many + ", " + memory, each, "bytes", "at most 1024", each <= 1024});

  const double cpu = cpu_seconds();
  const seconds began = now();
  std::this_thread::sleep_for(3 * ttl);
  const double share = 100 * (cpu_seconds() - cpu) / (now() - began).count();
  std::ptrdiff_t lost = 0;
  for (const auto& some : held) lost += std::ranges::count_if(some, [](const auto& lease) { return !lease.held(); });
  const std::string during = many + ", ttl " + std::to_string(ttl.count()) + " s, for 3 ttls";
  figure busy{during + ", of one core", share, "%"};
  if (most_cpu > 0) {
    busy.bar = at_most(most_cpu);
    busy.reached = share <= most_cpu;
  }
  all.push_back(std::move(busy));
  all.push_back({during + ", lost", static_cast<double>(lost), "leases", "0", lost == 0});
}

}  // namespace bench
