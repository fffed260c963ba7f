// A caller waits until a limit ends or its stop_token is triggered. Neither is an error: both return false.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main() {
  holdfast::store store = holdfast::open("memory:");
  holdfast::mutex door{store, "door"};
  holdfast::lease holder = store.acquire("door");

  if (std::unique_lock lock{door, 20ms}) return 1;
  std::cout << "not within 20 ms\n";

  bool stopped = false;
  // [stop]
  std::jthread worker{[&](const std::stop_token& stop) {
    if (door.lock(stop)) {
      std::lock_guard lock{door, std::adopt_lock};
      std::cout << "the worker is in\n";
    } else {
      stopped = true;  // asked to stop while it waited
    }
  }};
  worker.request_stop();
  // [/stop]
  worker.join();
  holder.release();

  bool entered = false;
  // [limit]
  if (std::unique_lock lock{door, 2s}) entered = true;  // for two seconds at most
  // [/limit]
  return stopped && entered ? 0 : 1;
}
