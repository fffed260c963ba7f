// Coroutines wait for a lock without blocking a thread.
#include <holdfast/holdfast.hpp>

#include <exception>
#include <iostream>
#include <latch>

struct job {  // a coroutine that starts at once and runs detached
  struct promise_type {
    job get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

// [coroutine]
job visit(holdfast::store store, int& visits, std::latch& done) {
  holdfast::lease lease = co_await store.async_acquire("counter");
  ++visits;
  const holdfast::released end = co_await lease.async_release();  // yes, lost or unknown
  if (end != holdfast::released::yes) std::cout << "lost, or no answer\n";
  done.count_down();
}
// [/coroutine]

int main() {
  int visits = 0;
  std::latch done{100};
  holdfast::store store = holdfast::open("memory:");
  for (int n = 0; n < 100; ++n) visit(store, visits, done);
  done.wait();
  std::cout << visits << " visits, one at a time\n";
  return visits == 100 ? 0 : 1;
}
