// Threads share one mutex object like a std::mutex, and no ticket is sold twice.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

int main() {
  holdfast::store store = holdfast::open("memory:");
  holdfast::mutex train{store, "train/001"};

  int left = 1'000;
  int sold = 0;
  const auto sell_all = [&] {
    for (;;) {
      // [lock]
      std::scoped_lock guard{train};
      if (left == 0) return;
      --left;
      ++sold;
      // [/lock]
    }
  };
  {
    std::vector<std::jthread> sellers;
    for (int n = 0; n < 4; ++n) sellers.emplace_back(sell_all);
  }
  std::cout << sold << " sold, " << left << " left\n";
  return sold == 1'000 && left == 0 ? 0 : 1;
}
