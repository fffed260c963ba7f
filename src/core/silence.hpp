#pragma once
#include <algorithm>
#include <atomic>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "storage/answer.hpp"

namespace holdfast::core {

/// Knows since when the store has answered no call of this process. Thread-safe.
class silence {
 public:
  /// Notes when the store has answered. *Not ready* is an answer; a failed connection is not.
  template <class T>
  void note(storage::answer<T>& got, runtime::instant now) {
    const bool answered = got.is_unknown() ? got.why().code == errc::not_ready : got.is_yes() || got.who().asked;
    if (answered) answered_.store(now, std::memory_order_relaxed);
  }
  /// When the first request since the last answer was sent. `sent` is when the calling task sent its first one.
  [[nodiscard]] runtime::instant since(runtime::instant sent) {
    const runtime::instant answered = answered_.load(std::memory_order_relaxed);
    return unanswered_.with([&](runtime::instant& first) {
      const bool is_new = first < answered;
      const runtime::instant mine = std::max(sent, answered);
      first = is_new ? mine : std::min(first, mine);
      return first;
    });
  }
  /// Returns true if the silence has lasted for the store's patience.
  [[nodiscard]] bool exceeds(runtime::span patience, runtime::instant sent, runtime::instant now) {
    return now >= runtime::later(since(sent), patience);
  }

 private:
  std::atomic<runtime::instant> answered_{runtime::instant::min()};
  runtime::guarded<runtime::instant> unanswered_{runtime::instant::max()};
};

}  // namespace holdfast::core
