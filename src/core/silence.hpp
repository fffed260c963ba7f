#pragma once
#include <algorithm>
#include <atomic>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "storage/answer.hpp"

namespace holdfast::core {

/// Since when the store has answered none of the calls of this process. From any thread.
class silence {
 public:
  /// Notes when the store has answered. That it is not ready is an answer; a connection that fails is none.
  template <class T>
  void hear(storage::answer<T>& got, runtime::instant now) {
    const bool answered = got.is_unknown() ? got.why().code == errc::not_ready : got.is_yes() || got.who().asked;
    if (answered) answered_.store(now, std::memory_order_relaxed);
  }
  /// `sent`: when a call sent its first request that is not answered yet. The first of these since the last answer.
  [[nodiscard]] runtime::instant since(runtime::instant sent) {
    const runtime::instant answered = answered_.load(std::memory_order_relaxed);
    return unanswered_.with([&](runtime::instant& first) {
      const bool is_new = first < answered;
      const runtime::instant mine = std::max(sent, answered);
      first = is_new ? mine : std::min(first, mine);
      return first;
    });
  }

 private:
  std::atomic<runtime::instant> answered_{runtime::instant::min()};
  runtime::guarded<runtime::instant> unanswered_{runtime::instant::max()};
};

}  // namespace holdfast::core
