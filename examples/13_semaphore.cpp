// At most three crawlers run at a time on all machines. One of them is heavy and counts as two.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

int main() {
  holdfast::store store = holdfast::open("memory:");
  holdfast::semaphore crawlers{store, "crawlers", 3};
  std::atomic<int> weight{0}, heaviest{0};
  const auto crawl = [&](int mine) {
    weight += mine;
    for (int seen = heaviest; weight > seen && !heaviest.compare_exchange_weak(seen, weight);) {
    }
    weight -= mine;
  };
  {
    std::vector<std::jthread> all;
    for (int n = 0; n < 6; ++n) {
      all.emplace_back([&] {
        // [one]
        crawlers.acquire();
        crawl(1);
        crawlers.release();
        // [/one]
      });
    }
    all.emplace_back([&] {
      // [two]
      const holdfast::lease two = crawlers.take(2);  // both at once, or neither; a lease, with its own loss
      crawl(2);
      // [/two]
    });
  }
  std::cout << "never more than " << heaviest << '\n';
  return heaviest <= 3 ? 0 : 1;
}
