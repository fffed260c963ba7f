#include "held_leases.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace bench {

namespace {

double bytes_in_use() {
  const struct mallinfo2 now = ::mallinfo2();
  return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

std::string at_most(double bar) {
  char text[32];
  std::snprintf(text, sizeof text, "at most %g", bar);
  return text;
}

}  // namespace

/// Acquires with several threads, since each acquisition may be a round trip.
leases take(holdfast::store& store, std::size_t count, std::chrono::seconds ttl) {
  constexpr std::size_t threads = 16;
  leases held(threads);
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

std::vector<std::string> lost_of(const leases& all) {
  std::vector<std::string> names;
  for (const auto& some : all) {
    for (const holdfast::lease& each : some) {
      if (!each.held()) names.emplace_back(each.name());
    }
  }
  return names;
}

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto each = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return each(use.ru_utime) + each(use.ru_stime);
}

std::vector<double> lateness_of(const leases& all, std::chrono::seconds ttl, std::chrono::seconds length) {
  using holdfast::boot_clock;
  struct watched {
    const holdfast::lease* what;
    boot_clock::time_point deadline;
  };
  std::vector<watched> some;
  for (const auto& each : all) {
    for (std::size_t n = 0; n < each.size(); n += 100) some.push_back({&each[n], each[n].deadline()});
  }
  // The deadline is one ttl after the renewal was sent, minus a hundredth and 2 ms.
  const seconds from_due_to_deadline = 2 * ttl / 3. - ttl / 100. - std::chrono::milliseconds(2);
  std::vector<double> late;
  const boot_clock::time_point end = boot_clock::now() + length;
  for (boot_clock::time_point now{}; (now = boot_clock::now()) < end;) {
    for (watched& each : some) {
      const boot_clock::time_point deadline = each.what->deadline();
      if (!each.what->held() || deadline == each.deadline) continue;
      late.push_back(seconds(now - each.deadline + from_due_to_deadline).count());
      each.deadline = deadline;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return late;
}

void held_leases::measure(holdfast::store& store, std::vector<figure>& all) const {
  {
    const holdfast::lease first = store.acquire("warm up");
  }
  const double before = bytes_in_use();
  const leases held = take(store, count, ttl);
  const std::string many = who + std::to_string(count) + " held leases";
  const double each = (bytes_in_use() - before) / static_cast<double>(count);
  all.push_back({many + ", " + memory, each, "bytes", "at most 1024", each <= 1024});

  const double cpu = cpu_seconds();
  const seconds began = now();
  std::this_thread::sleep_for(3 * ttl);
  const double share = 100 * (cpu_seconds() - cpu) / (now() - began).count();
  const std::size_t lost = lost_of(held).size();
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
