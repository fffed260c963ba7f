#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/asked_cell.hpp"
#include "core/due_heap.hpp"
#include "core/gate.hpp"
#include "core/hold.hpp"
#include "core/pauses.hpp"
#include "core/report.hpp"
#include "core/silence.hpp"
#include "holdfast/lease.hpp"
#include "runtime/back_off.hpp"
#include "runtime/executor.hpp"
#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "runtime/task_group.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

using runtime::io;
using runtime::task;

/// A limit that is over already: never wait for another holder.
[[nodiscard]] inline bool is_one_look(const limit& until) noexcept {
  return until.at() != runtime::never && until.at() <= boot_clock::now();
}

/// What a caller asks for. It was checked before.
class request {
 public:
  request(std::string name_, terms on_, limit until_, bool one_look_)
      : name(std::move(name_)), on(std::move(on_)), until(std::move(until_)), one_look(one_look_) {}
  request(std::string name_, terms on_, const limit& until_)
      : request(std::move(name_), std::move(on_), until_, is_one_look(until_)) {}
  std::string name;
  std::vector<std::string> others{};  ///< more names, all or nothing
  terms on;
  limit until;
  bool one_look;              ///< never wait for another holder; it has the store's patience
  bool bounded = false;       ///< but no more than `until`
  bool needs_answer = false;  ///< a limit that ends before the store has answered is a failure, and not busy
};

/// How an acquire ended.
class outcome {
 public:
  enum class kind { granted, busy, stopped, failed };
  static outcome granted(std::shared_ptr<tenancy> t) { return outcome(kind::granted, std::move(t), std::nullopt); }
  static outcome busy(std::string holder = {}) {
    outcome end(kind::busy, nullptr, std::nullopt);
    end.holder = std::move(holder);
    return end;
  }
  /// The limit ended before the store had answered: as good as busy.
  static outcome unanswered(storage::failure why) { return outcome(kind::busy, nullptr, std::move(why)); }
  static outcome stopped() { return outcome(kind::stopped, nullptr, std::nullopt); }
  static outcome failed(storage::failure why) { return outcome(kind::failed, nullptr, std::move(why)); }

  kind what;
  std::shared_ptr<tenancy> lease;       ///< of granted
  std::optional<storage::failure> why;  ///< of failed; of busy: the store has not answered
  std::string holder;                   ///< of busy: its label, as far as the store told

 private:
  outcome(kind k, std::shared_ptr<tenancy> t, std::optional<storage::failure> f)
      : what(k), lease(std::move(t)), why(std::move(f)) {}
};

/// The algorithms, written once for all stores: acquire, hand over, keep, lose, release. They know the store interface
/// and the runtime, and nothing of how a request travels or a thread runs.
///
/// acquire.cpp asks the store; keep.cpp renews; change.cpp makes a reader of a writer; asking.cpp looks at what others
/// hold, asks them to let go, and takes it from them; release.cpp ends a hold, by will or by loss.
class engine final : private storage::backend_events {
 public:
  struct settings {
    span patience;   ///< a store that does not answer for this long is an error
    unsigned burst;  ///< local callers served in one turn
  };

  engine(storage::backend&, io& loop, runtime::executor&, reporter, settings);
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() override = default;

  [[nodiscard]] task<outcome> acquire(io&, request);
  /// Extends by ttl from now; as storage::claim::renew.
  [[nodiscard]] task<storage::answer<instant>> renew(io&, std::shared_ptr<tenancy>, milliseconds ttl, limit);
  /// Turns the whole lock into a reader's place, without a gap; as storage::claim::downgrade.
  [[nodiscard]] task<storage::answer<instant>> downgrade(io&, std::shared_ptr<tenancy>, limit);
  [[nodiscard]] task<storage::answer<storage::done>> resize(io&, std::string name, std::uint32_t permits, limit);
  /// For whoever keeps a number in the store. What waits there leaves when the engine is closed; or not, where a lease
  /// in hand needs it.
  [[nodiscard]] asked_cell open_cell(std::string name, bool until_closed);
  /// As those of storage::admin; errc::closed when the store is closed meanwhile.
  [[nodiscard]] task<storage::answer<state>> inspect(io&, std::string name, limit);
  [[nodiscard]] task<storage::answer<std::vector<finding>>> examine(io&, limit);
  [[nodiscard]] task<storage::answer<storage::done>> revoke(io&, std::string name, std::string reason,
                                                            std::uint64_t fence, limit);
  [[nodiscard]] task<storage::answer<listing>> list(io&, std::string prefix, std::string after, limit);
  [[nodiscard]] task<storage::answer<storage::done>> break_lock(io&, storage::break_request, limit);
  /// Ends the tenancy, and hands the hold to the next local caller if it can. Nothing: give_up() has to follow.
  [[nodiscard]] std::optional<released> end_tenancy(tenancy&, instant now);
  /// Gives the claim back to the store, within the limit; what is not over by then goes on in the background, on the
  /// loop.
  [[nodiscard]] task<released> give_up(io&, const std::shared_ptr<tenancy>&, limit);
  [[nodiscard]] task<released> release(io&, std::shared_ptr<tenancy>, limit);  ///< both
  /// Where give_up() cannot be had: the store is told in the background, and the next one is called in.
  void abandon(const std::shared_ptr<hold>&) noexcept;
  /// Starts a task on the loop. The engine waits for its end before it goes.
  void spawn(task<void> work) { tasks_.spawn(std::move(work)); }
  /// Makes sure that the loop runs; before anything else. Throws std::system_error.
  void start() {
    if (!started_.load(std::memory_order_acquire)) start_once();
  }

  /// Lets every hold on that shard be renewed now, to see whether it is still ours; no_shard: every hold.
  void verify(storage::shard) noexcept;
  void close() noexcept { closing_.request_stop(); }  ///< every waiter leaves with errc::closed
  void end() noexcept { ending_.request_stop(); }     ///< nobody holds or asks any more: the background tasks end
  [[nodiscard]] const runtime::task_group& tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::size_t kept() const noexcept;
  [[nodiscard]] std::size_t rooms() const noexcept { return gate_.rooms(); }

 private:
  void start_once();

  // acquire.cpp
  class in_room;
  class in_line;
  task<std::optional<outcome>> wait_in_line(io&, const request&, visitor&);
  std::unique_ptr<storage::claim> open_claim(io&, const request&, const storage::owner_id&);
  task<outcome> ask(io&, const request&, visitor&, in_room&, bool told);  // told: the observer knows that we wait
  outcome take(const request&, const storage::owner_id&, std::unique_ptr<storage::claim>, const storage::grant&,
               instant now);
  [[nodiscard]] bool is_silent(instant unanswered_since, instant now);
  [[nodiscard]] outcome at_limit(storage::failure, bool silent, bool needs_answer) const;
  [[nodiscard]] outcome asked_to_stop() const;
  void tell_end(io&, const request&, const outcome&, instant began);

  // keep.cpp
  task<void> keep();
  instant keep_those_that_are_due(instant now);
  void keep_soon(const std::shared_ptr<hold>&);
  void begin_to_keep(storage::shard) noexcept;
  task<void> keep_one(std::shared_ptr<hold>, storage::shard);
  task<storage::answer<instant>> extend(io&, std::shared_ptr<hold>, milliseconds ttl, limit);
  [[nodiscard]] instant next_care(const hold&, instant now) const noexcept;
  void keep_from_now(const std::shared_ptr<hold>&, instant now);
  void care_at(hold&, instant) noexcept;
  void care_again(hold&) noexcept;
  void forget(hold&) noexcept;

  // What the store reports.
  void in_doubt(storage::shard on) noexcept override { verify(on); }
  void back() noexcept override { pauses_.cut_short(); }
  void revoke_requested(storage::revoke_request) noexcept override;
  void warning(std::string_view) noexcept override;

  // asking.cpp
  template <class T, class Ask>
  task<storage::answer<T>> ask_while_open(io&, limit, Ask);
  void hear();
  void hear_of(hold&, const storage::revoke_request&);
  void ask_to_let_go(hold&, const storage::revoke_request&);

  // release.cpp
  task<released> give_up_in_turn(io&, std::shared_ptr<tenancy>, limit);
  void call_next(hold&) noexcept;
  void drop(tenancy&) noexcept;
  bool hand_over(const tenancy&, instant now);
  void tell_released(const tenancy&, instant now, released how = released::yes);
  enum class loss {
    run_out,    // the time that was asked for is over: a fixed lease, or max_hold
    unrenewed,  // the store gave no answer before the deadline
    taken,      // the store says that it is not ours
  };
  [[nodiscard]] static loss loss_at_deadline(const hold&) noexcept;
  void lose(const std::shared_ptr<hold>&, instant now, loss);
  void tell_loss(const hold&, const tenancy&, instant now, loss) noexcept;
  task<void> tell_who_took(std::string name, std::uint64_t fence, span held_for);
  task<void> give_back(std::shared_ptr<hold>);
  task<void> give_back_later(std::shared_ptr<hold>);
  task<void> give_back(std::unique_ptr<storage::claim>, milliseconds ttl);
  task<void> release_until_known(storage::claim&, milliseconds ttl);

  storage::backend& backend_;
  io& loop_;
  runtime::executor& user_;
  const reporter report_;
  const settings settings_;
  const bool drops_by_itself_;  // the store drops what is not renewed
  gate gate_;
  pauses pauses_;  // of those who got no answer
  silence silence_;
  struct schedule {
    due_heap holds;
    std::vector<storage::revoke_request> asked;  // to be heard
    std::deque<storage::revoke_request> early;   // of holds that were granted, but are not here yet; or not any more
    std::optional<storage::revoke_request> early_for(const hold&);
    bool arm(instant at) noexcept {  // true: the keeper has to wake up earlier than it meant to
      if (at >= armed) return false;
      armed = at;
      return true;
    }
    instant armed = runtime::never;  // what the keeper sleeps until; there may be nothing to do by then
  };
  runtime::guarded<schedule> schedule_;
  std::atomic<unsigned> looks_{0};  // at who took what was lost
  runtime::signal kick_;            // the keeper has to wake up earlier than it meant to
  struct to_keep {
    instant deadline;
    std::shared_ptr<hold> what;
    bool operator<(const to_keep& other) const noexcept { return deadline > other.deadline; }
  };
  struct renewals {
    std::priority_queue<to_keep> due;  // and not begun
    unsigned begun = 0;
  };
  std::vector<renewals>
      renewals_;  // of the loop's thread: by shard, so that a silent one takes no room from the others
  std::stop_source closing_, ending_;
  std::mutex starting_;
  std::atomic<bool> started_{false};
  runtime::task_group tasks_;
};

}  // namespace holdfast::core
