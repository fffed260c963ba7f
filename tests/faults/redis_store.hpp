#pragma once
#include <future>
#include <memory>
#include <string>

#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"
#include "support/eventually.hpp"
#include "support/fault_proxy.hpp"
#include "support/recorder.hpp"
#include "support/redis_server.hpp"

namespace holdfast::faults {

using namespace std::chrono_literals;
using test::fault_proxy;
using test::happens;

/// A client of its own whose events are recorded.
struct watched_client {
  explicit watched_client(const std::string& url, std::chrono::milliseconds patience = 5s)
      : seen(std::make_shared<test::recorder>()), store(open(url, {.patience = patience, .observe = seen})) {}
  std::shared_ptr<test::recorder> seen;
  holdfast::store store;

  /// Waits for the lock on another thread. Returns when the waiter is in the queue.
  [[nodiscard]] std::future<std::optional<lease>> wait_for(const std::string& name, lock_options o = {}) {
    const std::size_t before = seen->events(event::kind::waiting).size();
    auto got =
        std::async(std::launch::async, [this, name, o] { return store.try_acquire(name, within(test::hang), o); });
    EXPECT_TRUE(seen->comes(event::kind::waiting, before + 1));
    return got;
  }
};

/// Returns the error of a failed call.
template <class F>
[[nodiscard]] std::pair<std::error_code, std::string> failure_of(F f) {
  try {
    f();
  } catch (const lock_error& e) {
    return {e.code(), e.what()};
  }
  return {};
}

}  // namespace holdfast::faults
