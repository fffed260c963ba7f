// A callback receives the lock. It runs on the store's executor, by default a thread of the store.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <latch>
#include <thread>

using namespace std::chrono_literals;

int main() {
  bool granted = false;
  bool on_another_thread = false;
  const std::thread::id here = std::this_thread::get_id();
  std::latch done{1};
  holdfast::store store = holdfast::open("memory:");
  // [callback]
  const auto then = [&](std::error_code why, std::optional<holdfast::lease> lease) {
    on_another_thread = std::this_thread::get_id() != here;
    granted = lease && lease->held();
    if (!lease) std::cout << (why ? why.message() : "busy") << '\n';
    lease.reset();  // given back, but not waited for: others need this thread
    done.count_down();
  };
  store.async_try_acquire("job/9", holdfast::within(1s), {}, then);
  // [/callback]
  done.wait();
  return granted && on_another_thread ? 0 : 1;
}
