// A transfer locks two accounts at once. Transfers in opposite directions do not deadlock.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <map>
#include <string>
#include <thread>

int main() {
  holdfast::store store = holdfast::open("memory:");
  std::map<std::string, int> balance{{"alice", 100}, {"bob", 100}};
  const auto transfer = [&](const std::string& from, const std::string& to, int amount) {
    // [several]
    const holdfast::lease both = store.acquire({"account/" + from, "account/" + to});  // both, or neither
    balance[from] -= amount;
    balance[to] += amount;
    const std::uint64_t fence = both.fence("account/" + to);  // each name has its own
    // [/several]
    return fence;
  };
  {
    const std::jthread there([&] {
      for (int n = 0; n < 100; ++n) transfer("alice", "bob", 1);
    });
    const std::jthread back([&] {
      for (int n = 0; n < 100; ++n) transfer("bob", "alice", 1);
    });
  }
  std::cout << "alice has " << balance["alice"] << ", bob has " << balance["bob"] << '\n';
  return balance["alice"] == 100 && balance["bob"] == 100 ? 0 : 1;
}
