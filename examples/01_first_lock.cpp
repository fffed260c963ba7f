// A first program: a mutex with the interface of std::mutex, and the lease behind every lock.
// [program]
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main() {
  holdfast::store store = holdfast::open();  // a directory of this user, shared by all its processes

  holdfast::mutex train{store, "train/001"};
  {
    std::scoped_lock guard{train};  // std::lock_guard and std::unique_lock work too
    std::cout << "a ticket is sold under fence " << train.current().fence() << '\n';
  }

  holdfast::lease shard = store.acquire("shard/7", {.ttl = 15s});
  for (int batch = 1; batch <= 3; ++batch) {
    if (!shard.held()) return 1;  // reads the local clock only
    std::cout << "batch " << batch << " is written with fence " << shard.fence() << '\n';
  }
  return shard.release() == holdfast::released::yes ? 0 : 1;
}
// [/program]
