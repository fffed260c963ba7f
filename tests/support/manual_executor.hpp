#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/guarded.hpp"

namespace holdfast::test {

/// An executor that runs user code when the test says so, on the test's thread. It may be destroyed before the store: a
/// cancelled async call keeps the store alive until the loop has finished the call, whose result is dropped then.
class manual_executor {
 public:
  using function = std::function<void()>;

  /// The value for open_options.executor.
  [[nodiscard]] std::function<void(function)> poster() {
    return [weak = std::weak_ptr(jobs_)](function f) {
      if (const auto queue = weak.lock()) queue->with([&](auto& jobs) { jobs.push_back(std::move(f)); });
    };
  }

  void run() {
    while (function f = pop()) f();
  }
  [[nodiscard]] std::size_t waiting() const {
    return jobs_->with([](const auto& jobs) { return jobs.size(); });
  }

 private:
  function pop() {
    return jobs_->with([](auto& jobs) -> function {
      if (jobs.empty()) return nullptr;
      function f = std::move(jobs.front());
      jobs.pop_front();
      return f;
    });
  }
  const std::shared_ptr<runtime::guarded<std::deque<function>>> jobs_ =
      std::make_shared<runtime::guarded<std::deque<function>>>();
};

}  // namespace holdfast::test
