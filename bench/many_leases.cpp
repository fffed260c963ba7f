#include <malloc.h>
#include <sys/resource.h>
#include <holdfast/holdfast.hpp>

#include <thread>

#include "bench.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

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

void hold(std::size_t count, std::chrono::milliseconds ttl, std::vector<figure>& all) {
  holdfast::store store = holdfast::open("memory:");
  {
    const holdfast::lease first = store.acquire("warm up");
  }
  std::vector<holdfast::lease> held;
  held.reserve(count);
  const double before = bytes_in_use();
  for (std::size_t n = 0; n < count; ++n) held.push_back(store.acquire("shard/" + std::to_string(n), {.ttl = ttl}));
  const std::string who = std::to_string(count) + " held leases";
  const double each = (bytes_in_use() - before) / static_cast<double>(count) + sizeof(holdfast::lease);
  all.push_back({who + ", memory each, store included", each, "bytes", "at most 1024", each <= 1024});

  const double cpu = cpu_seconds();
  const seconds began = now();
  std::this_thread::sleep_for(3 * ttl);
  const double share = 100 * (cpu_seconds() - cpu) / (now() - began).count();
  const auto lost = std::count_if(held.begin(), held.end(), [](const holdfast::lease& l) { return !l.held(); });
  const std::string during = who + ", ttl " + std::to_string(ttl / 1s) + " s, for 3 ttls";
  all.push_back({during + ", of one core", share, "%"});
  all.push_back({during + ", lost", static_cast<double>(lost), "leases", "0", lost == 0});
}

}  // namespace

void many_leases(std::vector<figure>& all) {
  hold(10'000, 10s, all);
  hold(100'000, 10s, all);
}

}  // namespace bench
