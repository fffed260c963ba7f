#pragma once
#include <mutex>
#include <utility>

#include "runtime/small_mutex.hpp"

namespace holdfast::runtime {

/// Data that can be accessed only while its mutex is held. Critical sections are short: no I/O, no user code, no
/// co_await.
template <class T>
class guarded {
 public:
  guarded() = default;
  explicit guarded(T value) : value_(std::move(value)) {}

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
  mutable small_mutex mutex_;
  T value_{};
};

}  // namespace holdfast::runtime
