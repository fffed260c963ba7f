#pragma once
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {

/// Threads that are joined at the end of the scope.
class threads {
 public:
  threads() = default;
  threads(int n, const std::function<void(int)>& body) {
    for (int i = 0; i < n; ++i) add([body, i] { body(i); });
  }
  threads(const threads&) = delete;
  threads& operator=(const threads&) = delete;
  ~threads() { join(); }

  void add(std::function<void()> body) { all_.emplace_back(std::move(body)); }
  void join() {
    for (std::thread& t : all_) t.join();
    all_.clear();
  }

 private:
  std::vector<std::thread> all_;
};

}  // namespace holdfast::test
