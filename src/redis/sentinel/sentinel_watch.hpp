#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>

#include "redis/protocol/link.hpp"
#include "redis/sentinel/promotion.hpp"
#include "redis/sentinel/sentinels.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"
#include "runtime/signal.hpp"

namespace holdfast::redis {

/// Listens to all sentinels at once, since only the one that changes the primary tells whom it has chosen, and the
/// others hear of it later. It also asks them now and then: messages get lost, and
/// a user may lack the right to subscribe, of which the listener is warned once for each sentinel.
class sentinel_watch {
 public:
  /// Of a dialer that asks sentinels.
  sentinel_watch(const dialer&, runtime::loop&, listener&);
  sentinel_watch(const sentinel_watch&) = delete;
  sentinel_watch& operator=(const sentinel_watch&) = delete;

  /// Once.
  void start();
  /// From another thread than the loop's.
  void close() noexcept;

 private:
  /// To one of them.
  struct line {
    explicit line(std::size_t n) noexcept : which(n) {}
    const std::size_t which;
    std::unique_ptr<connection> to;
    pipeline sent;
    std::deque<pending_reply> answers;  // to the questions in `sent`
    runtime::instant asked{};           // since then the first of them is due
    std::optional<std::int64_t> epoch;  // in which it named the primary
    runtime::signal broken;
    bool warned = false;  // that the user may not subscribe there
  };
  runtime::task<void> run(line&);
  runtime::task<void> listen(line&);
  [[nodiscard]] std::unique_ptr<connection> dial(line&) const noexcept;
  [[nodiscard]] bool begin(line&) noexcept;
  [[nodiscard]] bool ask(line&) noexcept;
  void on_ready(line&) noexcept;
  void take_message(line&, const value&);

  const dialer& dialer_;
  sentinels& sentinels_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  std::deque<line> lines_;
  promotion promotion_;
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
