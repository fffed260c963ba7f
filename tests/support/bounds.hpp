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

/// Whatever takes longer hangs. Nothing is asserted about time but this, and no passing test comes near it.
inline constexpr std::chrono::seconds hang{60};

/// True: it happened. False: it hangs.
[[nodiscard]] inline bool happens(std::counting_semaphore<>& s) { return s.try_acquire_for(hang); }

template <class T>
[[nodiscard]] bool happens(const std::future<T>& f) {
  return f.wait_for(hang) == std::future_status::ready;
}

/// True: the token was asked to stop.
[[nodiscard]] inline bool happens(const std::stop_token& token) {
  std::counting_semaphore<> stopped(0);
  const std::stop_callback tell(token, [&] { stopped.release(); });
  return happens(stopped);
}

/// The value of a future that must come; fails the test, and goes on with a default, if it hangs.
template <class T>
T get(std::future<T> f) {
  if (!happens(f)) {
    ADD_FAILURE() << "hangs";
    std::terminate();  // what it refers to would go out of scope under it
  }
  return f.get();
}

}  // namespace holdfast::test
