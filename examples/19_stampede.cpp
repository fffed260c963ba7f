// A cache entry has expired, and many servers need it at the same moment: one creates it, and the others wait.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

class cache {  // stands for a cache shared by all servers
 public:
  std::optional<std::string> get() {
    std::scoped_lock lock{mutex_};
    return page_;
  }
  std::string put(std::string page) {
    std::scoped_lock lock{mutex_};
    return page_.emplace(std::move(page));
  }

 private:
  std::mutex mutex_;
  std::optional<std::string> page_;
};

int main() {
  cache pages;
  std::atomic<int> rendered{0}, served{0};
  const auto serve = [&] {
    holdfast::store store = holdfast::open("memory:stampede");  // each server has its own
    // [once]
    const auto look = [&] { return pages.get(); };
    const auto make = [&] { return pages.put("page " + std::to_string(++rendered)); };
    if (holdfast::once(store, "page/front", look, make) == "page 1") ++served;
    // [/once]
  };
  for (std::vector<std::jthread> servers; servers.size() < 8;) servers.emplace_back(serve);
  std::cout << served << " served, " << rendered << " rendered\n";
  return served == 8 && rendered == 1 ? 0 : 1;
}
