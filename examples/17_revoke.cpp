// Who has it? Please let go: the holder hears of it, and ends its work in its own time.
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
    while (!asked.stop_requested()) ++indexed;  // one more document, as long as nobody minds
    job.release();
    // [/holder]
  });
  holds.wait();
  // [ask]
  for (const holdfast::state::holder& who : store.inspect("reindex").holders) {
    std::cout << who.label << ", process " << who.pid << ", holds it\n";
  }
  const bool somebody = store.revoke("reindex", "a new version is to be installed");
  holdfast::lease mine = store.acquire("reindex");  // as soon as it lets go
  // [/ask]
  std::cout << indexed << " were indexed before\n";
  return somebody && mine.held() ? 0 : 1;
}
