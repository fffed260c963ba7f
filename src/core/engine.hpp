#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/acquisition.hpp"
#include "core/backoff.hpp"
#include "core/environment.hpp"
#include "core/local_queue.hpp"
#include "core/reliable_cell.hpp"
#include "core/renewer.hpp"
#include "core/request.hpp"
#include "holdfast/lease.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/task_group.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

/// The algorithms, written once for all stores: acquire, hand over, release and lose a lock. They know the store
/// interface and the runtime, but not how a request travels or how a thread runs.
///
/// acquire.cpp asks the store, as acquisition decides; the renewer renews; change.cpp has what a holder changes in its
/// lease; release.cpp and loss.cpp end a holding; admin.cpp inspects and breaks the locks of other
/// clients, or asks their holders to release them.
class engine final : private storage::backend_events {
 public:
  struct settings {
    span patience;   ///< a store that does not answer for this long is an error
    unsigned burst;  ///< how many local callers hold a lock in a row before it is released
  };

  engine(storage::backend&, io& loop, runtime::executor&, reporter, settings);
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() override = default;

  [[nodiscard]] task<outcome> acquire(io&, request);
  /// Extends by ttl from now, like storage::claim::renew.
  [[nodiscard]] task<storage::answer<instant>> renew(io&, std::shared_ptr<lease_state>, milliseconds ttl, limit);
  /// Turns a writer into a reader without a gap, like storage::claim::downgrade.
  [[nodiscard]] task<storage::answer<instant>> downgrade(io&, std::shared_ptr<lease_state>, limit);
  /// A cell of the store. Its calls fail with errc::closed when the engine is closed, if `until_closed` is set.
  [[nodiscard]] reliable_cell open_cell(std::string name, bool until_closed);
  /// Like those of storage::admin, but they fail with errc::closed when the engine is closed.
  [[nodiscard]] task<storage::answer<storage::done>> resize(io&, std::string name, std::uint32_t permits, limit);
  [[nodiscard]] task<storage::answer<state>> inspect(io&, std::string name, limit);
  [[nodiscard]] task<storage::answer<std::vector<finding>>> examine(io&, limit);
  [[nodiscard]] task<storage::answer<storage::done>> revoke(io&, std::string name, std::string reason,
                                                            std::uint64_t fence, limit);
  [[nodiscard]] task<storage::answer<listing>> list(io&, std::string prefix, std::string after, limit);
  [[nodiscard]] task<storage::answer<storage::done>> break_lock(io&, storage::break_request, limit);
  /// Ends the lease, and hands the holding over to the next local caller if possible. If it returns nothing,
  /// release_claim() has to follow.
  [[nodiscard]] std::optional<released> end_lease(lease_state&, instant now);
  /// Releases the claim at the store, within the limit. Without an answer by then, a background task retries.
  [[nodiscard]] task<released> release_claim(io&, const std::shared_ptr<lease_state>&, limit);
  [[nodiscard]] task<released> release(io&, std::shared_ptr<lease_state>, limit);  ///< end_lease(), release_claim()
  /// Releases the claim in the background and wakes the next local waiter. For callers that must not block.
  void release_in_background(const std::shared_ptr<holding>&) noexcept;
  /// Runs a task on the loop, in the background. The engine waits for it before it is destroyed.
  void spawn(task<void> work) { env_.tasks.spawn(std::move(work)); }
  /// Starts the loop, before any other call. Throws std::system_error.
  void start() {
    if (!started_.load(std::memory_order_acquire)) start_once();
  }

  void verify(storage::shard on) noexcept { renewer_.verify(on); }
  void close() noexcept { env_.closing.request_stop(); }  ///< every waiter leaves with errc::closed
  void end() noexcept { env_.ending.request_stop(); }     ///< no leases are left: the background tasks end
  [[nodiscard]] const runtime::task_group& tasks() const noexcept { return env_.tasks; }
  [[nodiscard]] std::size_t holdings() const noexcept { return renewer_.size(); }
  [[nodiscard]] std::size_t queues() const noexcept { return queue_.size(); }

 private:
  void start_once();

  // What the store reports.
  void in_doubt(storage::shard on) noexcept override { verify(on); }
  void back() noexcept override { backoff_.end_pauses(); }
  void revoke_requested(storage::revoke_request what) noexcept override { renewer_.request_revoke(std::move(what)); }
  void warning(std::string_view text) noexcept override {
    env_.tell({.what = event::kind::warning, .name = {}, .text = text});
  }

  // acquire.cpp
  class queue_head;
  class queued_waiter;
  task<std::optional<outcome>> wait_in_queue(io&, const request&, waiter&);
  task<outcome> ask_store(io&, const request&, waiter&, queue_head&, bool reported);
  task<acquisition::step> wait_for_next_step(io&, acquisition&, acquisition::step, storage::claim&, std::uint64_t cuts,
                                             limit);
  std::unique_ptr<storage::claim> open_claim(io&, const request&, const storage::owner_id&);
  outcome take(const request&, const storage::owner_id&, std::unique_ptr<storage::claim>, const storage::grant&,
               instant now);
  [[nodiscard]] outcome stopped_or_closed() const;
  void report_end(io&, const request&, const outcome&, instant began);

  // admin.cpp
  template <class T, class Ask>
  task<storage::answer<T>> ask_while_open(io&, limit, Ask);

  // release.cpp
  task<released> release_in_turn(io&, std::shared_ptr<lease_state>, limit);
  void wake_next(holding&) noexcept;
  void discard(lease_state&) noexcept;
  bool hand_over(const lease_state&, instant now);
  void report_release(const lease_state&, instant now, released how);
  task<void> retry_release(std::shared_ptr<holding>);
  task<void> retry_release_after_delay(std::shared_ptr<holding>);
  task<void> retry_release(std::unique_ptr<storage::claim>, milliseconds ttl);
  task<storage::answer<storage::done>> retry_release(storage::claim&, milliseconds ttl);

  // loss.cpp
  void lose(const std::shared_ptr<holding>&, instant now, loss);
  void report_loss(const holding&, const lease_state&, instant now, loss) noexcept;
  task<void> report_who_broke(std::string name, std::uint64_t fence, span held_for);

  environment env_;
  const unsigned burst_;
  local_queue queue_;
  backoff backoff_;
  renewer renewer_;
  std::atomic<unsigned> lookups_{0};  // running requests for the note of a break
  std::mutex starting_;
  std::atomic<bool> started_{false};
};

}  // namespace holdfast::core
