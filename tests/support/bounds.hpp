#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <utility>

namespace holdfast::test {

/// An operation that takes longer is considered to hang. Tests assert no other times, and passing tests stay far below.
inline constexpr std::chrono::seconds hang{60};

/// Returns false if it does not happen in time.
[[nodiscard]] inline bool happens(std::counting_semaphore<>& s) { return s.try_acquire_for(hang); }

template <class T>
[[nodiscard]] bool happens(const std::future<T>& f) {
  return f.wait_for(hang) == std::future_status::ready;
}

/// Returns true if the token was stopped.
[[nodiscard]] inline bool happens(const std::stop_token& token) {
  std::counting_semaphore<> stopped(0);
  const std::stop_callback tell(token, [&] { stopped.release(); });
  return happens(stopped);
}

/// The value of a future. If it hangs, the test fails and continues with a default value.
template <class T>
T get(std::future<T> f) {
  if (!happens(f)) {
    ADD_FAILURE() << "hangs";
    std::terminate();  // the task would use variables that go out of scope
  }
  return f.get();
}

}  // namespace holdfast::test
