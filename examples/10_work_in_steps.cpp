// A fixed lease is not renewed in the background, so a worker that hangs loses the lock after one ttl.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main() {
  holdfast::store store = holdfast::open("memory:");
  int done = 0;
  // [steps]
  holdfast::lease shard = store.acquire("shard/7", {.ttl = 2s, .renew = false, .label = "indexer"});
  for (int step = 1; step <= 5; ++step) {
    std::this_thread::sleep_for(10ms);  // the work
    if (!shard.renew(2s)) break;        // 2 s more for the next step; false: it was lost
    done = step;
  }
  // [/steps]
  std::cout << done << " steps, " << shard.remaining() / 1ms << " ms left\n";
  const bool fresh = shard.held() && shard.remaining() <= 2s;
  return done == 5 && fresh ? 0 : 1;
}
