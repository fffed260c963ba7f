#pragma once
#include <mutex>

namespace holdfast::runtime {

/// Data that is reachable only through its lock. What runs inside is short: no I/O, no user code, no co_await.
template <class T>
class guarded {
 public:
  template <class F>
  decltype(auto) with(F&& f) {
    std::lock_guard lock(mutex_);
    return f(value_);
  }
  template <class F>
  decltype(auto) with(F&& f) const {
    std::lock_guard lock(mutex_);
    return f(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace holdfast::runtime
