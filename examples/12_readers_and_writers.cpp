// Many clients read a timetable. A writer changes it and keeps reading, without letting another writer in.
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

int main() {
  holdfast::store store = holdfast::open("memory:");
  holdfast::shared_mutex timetable{store, "timetable"};
  std::array<int, 2> trains{0, 0};  // they must always be equal
  std::atomic<bool> torn{false};
  {
    std::vector<std::jthread> readers;
    for (int n = 0; n < 3; ++n) {
      readers.emplace_back([&] {
        for (int k = 0; k < 100; ++k) {
          // [read]
          std::shared_lock reading{timetable};
          if (trains[0] != trains[1]) torn = true;
          // [/read]
        }
      });
    }
    for (int k = 1; k <= 20; ++k) {
      // [write]
      timetable.lock();
      trains = {k, k};
      timetable.unlock_and_lock_shared();  // no other writer comes between
      std::cout << "now " << trains[0] << '\n';
      timetable.unlock_shared();
      // [/write]
    }
  }
  return torn ? 1 : 0;
}
