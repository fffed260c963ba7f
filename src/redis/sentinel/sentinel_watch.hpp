#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>

#include "redis/protocol/transport.hpp"
#include "redis/sentinel/promotion_watch.hpp"
#include "redis/sentinel/sentinels.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"

namespace holdfast::redis {

/// Subscribes to all sentinels at once, because only the one that changes the primary announces its choice in time. It
/// also asks each of them periodically: messages get lost, and the user may lack the permission to subscribe. The
/// listener is warned of that once for each sentinel.
class sentinel_watch {
 public:
  /// The dialer has sentinels.
  sentinel_watch(const dialer&, runtime::loop&, listener&);
  sentinel_watch(const sentinel_watch&) = delete;
  sentinel_watch& operator=(const sentinel_watch&) = delete;

  void start();  ///< once
  /// From any thread but the loop's.
  void close() noexcept;

 private:
  /// The connection to one of them.
  struct subscription {
    explicit subscription(std::size_t n) noexcept : which(n) {}
    const std::size_t which;
    std::unique_ptr<connection> to;
    pipeline sent;
    std::deque<pending_reply> answers;  // to the questions in `sent`
    runtime::instant asked{};           // since then the first of them is due
    std::optional<std::int64_t> epoch;  // in which it named the primary
    runtime::signal broken;
    bool warned = false;
  };
  runtime::task<void> run(subscription&);
  runtime::task<void> listen(subscription&);
  [[nodiscard]] std::unique_ptr<connection> dial(subscription&) const noexcept;
  [[nodiscard]] bool begin(subscription&) noexcept;
  [[nodiscard]] bool ask(subscription&) noexcept;
  void on_ready(subscription&) noexcept;
  void take_message(subscription&, const value&);

  const dialer& dialer_;
  sentinels& sentinels_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  std::deque<subscription> subscriptions_;
  promotion_watch promotion_;
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
