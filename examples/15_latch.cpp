// Three workers on any machines start together, when the last of them is ready.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
  holdfast::store store = holdfast::open("memory:");
  std::atomic<int> ready{0};
  std::atomic<bool> too_early{false};
  {
    std::vector<std::jthread> workers;
    for (int n = 0; n < 3; ++n) {
      workers.emplace_back([&] {
        // [together]
        holdfast::latch start{store, "import/start", 3};  // all of them say 3
        ++ready;                                          // its part is loaded
        start.arrive_and_wait();                          // one less, and until none is missing
        // [/together]
        if (ready != 3) too_early = true;
      });
    }
  }
  // [late]
  holdfast::latch start{store, "import/start", 3};
  const bool begun = start.try_wait();                      // one look
  const bool passed = start.wait(holdfast::within(100ms));  // who comes late does not wait
  // [/late]
  std::cout << (begun && passed && !too_early ? "all began together\n" : "one began too early\n");
  return begun && passed && !too_early ? 0 : 1;
}
