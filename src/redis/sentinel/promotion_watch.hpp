#pragma once
#include <cstdint>
#include <stop_token>

#include "redis/sentinel/sentinels.hpp"
#include "redis/transport/connection.hpp"
#include "runtime/loop.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/task_group.hpp"

namespace holdfast::redis {

/// Asks the replica that a sentinel has chosen whether it is the primary, until it is. The sentinels look only about
/// once a second, and announce it even later.
class promotion_watch {
 public:
  promotion_watch(const dialer& d, sentinels& s, runtime::loop& loop) : dialer_(d), sentinels_(s), loop_(loop) {}
  promotion_watch(const promotion_watch&) = delete;
  promotion_watch& operator=(const promotion_watch&) = delete;

  /// Follows the replica chosen in this epoch, and no longer an earlier one. On the loop.
  void begin(net::endpoint chosen, std::int64_t epoch);
  /// From any thread but the loop's. No begin() may follow.
  void close() noexcept;

 private:
  runtime::task<void> follow(net::endpoint, std::int64_t epoch, limit);
  [[nodiscard]] bool becomes_primary(const net::endpoint&, const limit&) const noexcept;
  void wait_until_primary(const net::endpoint&, const limit&) const;

  const dialer& dialer_;
  sentinels& sentinels_;
  runtime::loop& loop_;
  std::stop_source given_up_;
  runtime::queue_thread looks_{"holdfast-look"};  // its own: a silent sentinel must not delay it
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
