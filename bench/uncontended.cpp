#include <holdfast/holdfast.hpp>
#include <mutex>

#include "bench.hpp"

namespace bench {

void uncontended(std::vector<figure>& all) {
  holdfast::store store = holdfast::open("memory:");
  holdfast::mutex named{store, "train/001"};
  std::mutex plain;
  std::vector<double> by_mutex, by_lease, by_std;
  for (int slice = 0; slice < 20; ++slice) {
    by_mutex.push_back(nanoseconds_each([&] { std::scoped_lock guard{named}; }));
    by_lease.push_back(nanoseconds_each([&] { const holdfast::lease held = store.acquire("train/001"); }));
    by_std.push_back(nanoseconds_each([&] { std::scoped_lock guard{plain}; }));
  }
  all.push_back({"memory:, uncontended, mutex lock+unlock", median(by_mutex), "ns"});
  all.push_back({"memory:, uncontended, acquire+release of a lease", median(by_lease), "ns"});
  all.push_back({"std::mutex lock+unlock, for scale", median(by_std), "ns"});
}

}  // namespace bench
