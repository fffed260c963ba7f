#pragma once
#include <memory>
#include <stop_token>

#include "redis/connection.hpp"
#include "redis/sentinels.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"
#include "runtime/signal.hpp"

namespace holdfast::redis {

/// Listens to one of the sentinels, and when that is silent to the next, so that a switch is known as soon as they tell
/// it. It also asks every second: messages get lost.
class sentinel_watch {
 public:
  sentinel_watch(sentinels& s, milliseconds connect_timeout, runtime::loop& loop)
      : sentinels_(s), connect_timeout_(connect_timeout), loop_(loop) {}
  sentinel_watch(const sentinel_watch&) = delete;
  sentinel_watch& operator=(const sentinel_watch&) = delete;

  /// Once.
  void start();
  /// From another thread than the loop's.
  void close() noexcept;

 private:
  runtime::task<void> run();
  runtime::task<void> listen(std::unique_ptr<connection>);
  [[nodiscard]] std::unique_ptr<connection> dial() const noexcept;
  [[nodiscard]] bool begin() noexcept;
  [[nodiscard]] bool ask() noexcept;
  void on_ready() noexcept;

  sentinels& sentinels_;
  const milliseconds connect_timeout_;
  runtime::loop& loop_;
  std::stop_source ending_;
  std::unique_ptr<connection> connection_;
  bool answer_due_ = false;
  runtime::signal broken_;
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
