#pragma once
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "core/due_heap.hpp"
#include "core/environment.hpp"
#include "core/holding.hpp"
#include "core/revoke_requests.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"

namespace holdfast::core {

using runtime::io;
using runtime::task;

/// Renews all holdings in the background and finds out which are lost. One task serves all of them: a held lease has no
/// frame and no timer of its own. It also delivers revoke requests. Thread-safe, except for run().
class renewer {
 public:
  /// Ends a holding that was lost. Has no effect on one that is finished.
  using lose = std::function<void(const std::shared_ptr<holding>&, instant now, loss)>;
  renewer(environment& e, lose l) : env_(e), lose_(std::move(l)) {}

  [[nodiscard]] task<void> run();  ///< on the loop, until environment::ending
  void add(const std::shared_ptr<holding>&, instant now);
  void remove(holding&) noexcept;
  /// Renews now. The caller has locked the mutex of the holding.
  [[nodiscard]] task<storage::answer<instant>> renew(io&, std::shared_ptr<holding>, milliseconds ttl, limit);
  /// The deadline was extended by another call.
  void reschedule(holding& h, instant now) noexcept { renew_at(h, next_renewal(h, now)); }
  /// Renews all holdings on that shard now, to check whether they are still ours; no_shard: all holdings.
  void verify(storage::shard) noexcept;
  /// The store has sent a revoke request. May be called with any lock held.
  void request_revoke(storage::revoke_request) noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  instant renew_due(instant now);
  void await_renewal(const std::shared_ptr<holding>&);
  void begin_renewals(storage::shard) noexcept;
  task<void> renew_one(std::shared_ptr<holding>, storage::shard);
  void on_unanswered(io&, const std::shared_ptr<holding>&, instant sent, const storage::failure&);
  [[nodiscard]] instant next_renewal(const holding&, instant now) const noexcept;
  void renew_at(holding&, instant) noexcept;
  void retry_soon(holding&) noexcept;
  void deliver_revoke_requests();
  void deliver(holding&, const storage::revoke_request&);

  struct schedule {
    due_heap holdings;
    revoke_requests requests;
    instant armed = runtime::never;  // when the task wakes up; there may be nothing to do by then
    /// Returns true if the task has to be woken, because it would wake up later than that.
    bool arm(instant at) noexcept {
      if (at >= armed) return false;
      armed = at;
      return true;
    }
  };
  struct due {
    instant deadline;
    std::shared_ptr<holding> what;
    bool operator<(const due& other) const noexcept { return deadline > other.deadline; }
  };
  /// The renewals of one shard. Each shard has its own, so that a silent one does not delay the others.
  struct window {
    std::priority_queue<due> waiting;
    unsigned begun = 0;
  };

  environment& env_;
  const lose lose_;
  runtime::guarded<schedule> schedule_;
  runtime::signal wake_;         // the task has to wake up earlier than it planned
  std::vector<window> windows_;  // on the loop only; by shard
};

}  // namespace holdfast::core
