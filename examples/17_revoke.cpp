// A client asks the holder to release its lock. The holder is notified and finishes its work first.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <latch>
#include <thread>

int main() {
  holdfast::store store = holdfast::open("memory:");
  std::latch holds{1};
  int indexed = 0;
  const std::jthread worker([&] {
    // [holder]
    holdfast::lease job = store.acquire("reindex", {.label = "worker-3"});
    const std::stop_token asked = job.revoke_requested();
    holds.count_down();
    while (!asked.stop_requested()) ++indexed;  // index documents until asked to stop
    job.release();
    // [/holder]
  });
  holds.wait();
  // [ask]
  for (const holdfast::state::holder& who : store.inspect("reindex").holders) {
    std::cout << who.label << ", process " << who.pid << ", holds it\n";
  }
  const bool asked_holder = store.revoke("reindex", "a new version is to be installed");
  holdfast::lease mine = store.acquire("reindex");  // waits until the holder releases it
  // [/ask]
  std::cout << indexed << " were indexed before\n";
  return asked_holder && mine.held() ? 0 : 1;
}
