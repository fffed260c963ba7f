#pragma once
#include <cstdint>
#include <stop_token>

#include "redis/sentinel/sentinels.hpp"
#include "redis/transport/connection.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"
#include "runtime/queue_thread.hpp"

namespace holdfast::redis {

/// Asks the replica that a sentinel has chosen until it leads. The sentinels look only about once a second, and name it
/// later still.
class promotion {
 public:
  promotion(const dialer& d, sentinels& s, runtime::loop& loop) : dialer_(d), sentinels_(s), loop_(loop) {}
  promotion(const promotion&) = delete;
  promotion& operator=(const promotion&) = delete;

  /// In the epoch of the sentinel that has chosen it. Whichever was chosen before is given up. On the loop.
  void begin(sentinels::place chosen, std::int64_t epoch);
  /// From another thread than the loop's, and nothing begins any more.
  void close() noexcept;

 private:
  runtime::task<void> follow(sentinels::place, std::int64_t epoch, limit);
  [[nodiscard]] bool comes_to_lead(const sentinels::place&, const limit&) const noexcept;
  void ask_until_it_leads(const sentinels::place&, const limit&) const;

  const dialer& dialer_;
  sentinels& sentinels_;
  runtime::loop& loop_;
  std::stop_source given_up_;
  runtime::queue_thread looks_{"holdfast-look"};  // of its own: a sentinel that is silent does not keep it waiting
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
