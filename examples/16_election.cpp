// One of two schedulers leads. A monitor sees which one, and when the other takes over.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main() {
  holdfast::store store = holdfast::open("memory:");
  std::uint64_t first = 0, second = 0;

  // [campaign]
  holdfast::election scheduler{store, "scheduler", {.label = "host-1"}};
  holdfast::leadership leads = scheduler.campaign();  // waits for its turn
  if (leads.held()) first = leads.fence();            // work, with this fence
  // [/campaign]

  std::jthread other([&] {
    holdfast::election mine{store, "scheduler", {.label = "host-2"}};
    const holdfast::leadership next = mine.campaign();
    second = next.fence();
  });

  // [observe]
  holdfast::leaders seen = holdfast::election{store, "scheduler"}.observe();
  if (seen.current()) std::cout << seen.current()->label << " leads\n";
  leads.resign();
  while (seen.wait_for_change(holdfast::within(5s))) {
    if (!seen.current()) break;  // there is no leader any more
    std::cout << seen.current()->label << " leads since fence " << seen.current()->fence << '\n';
  }
  // [/observe]
  other.join();
  return second > first ? 0 : 1;
}
