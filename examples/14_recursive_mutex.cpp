// A function that holds a lock calls another one that acquires the same lock.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

int main() {
  holdfast::store store = holdfast::open("memory:");
  // [again]
  holdfast::recursive_mutex account{store, "account/7"};
  int balance = 100;
  const auto take = [&](int amount) {
    std::scoped_lock guard{account};  // the second time it costs no round trip
    balance -= amount;
  };
  const auto take_with_fee = [&](int amount) {
    std::scoped_lock guard{account};
    take(amount);
    take(1);
  };
  // [/again]
  take_with_fee(10);
  std::cout << balance << " left\n";
  return balance == 89 && store.try_acquire("account/7") ? 0 : 1;
}
