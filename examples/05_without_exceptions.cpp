// "Acquired", "not acquired" and "the store failed" are three different results, with and without exceptions.
#include <holdfast/holdfast.hpp>

#include <iostream>

using namespace std::chrono_literals;

enum class answer { rebuilt, busy, failed };

// [three]
answer rebuild_once(holdfast::store& store) {
  std::error_code why;
  if (auto lease = store.try_acquire("rebuild", holdfast::within(20ms), {}, why)) {
    std::cout << "rebuilding under fence " << lease->fence() << '\n';
    return answer::rebuilt;
  }
  if (why) {
    std::cout << "no lock service: " << why.message() << '\n';
    return answer::failed;
  }
  std::cout << "not acquired within 20 ms\n";
  return answer::busy;
}
// [/three]

int main() {
  holdfast::store store = holdfast::open("memory:");
  if (rebuild_once(store) != answer::rebuilt) return 1;

  holdfast::lease other = store.acquire("rebuild");
  if (rebuild_once(store) != answer::busy) return 1;

  store.close();
  return rebuild_once(store) == answer::failed ? 0 : 1;
}
