#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/lease.hpp"
#include "runtime/async_mutex.hpp"
#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

using runtime::instant;
using runtime::span;
using std::chrono::milliseconds;

/// How a caller wants to hold a lock.
struct terms {
  storage::share wants{};
  milliseconds ttl{};
  bool renew = true;
  milliseconds max_hold{0};
  milliseconds delay{0};  ///< how long the lock stays closed after its holder was lost
  bool fair = true;
  std::string label{};

  /// True if a holding that was acquired on these terms may be handed over to a local caller with those.
  [[nodiscard]] bool pass_on_to(const terms& next) const noexcept;
  /// The same terms for a reader.
  [[nodiscard]] terms as_reader() const;
};

class holding;

/// The state behind a lease. A holding may be handed over from one local caller to the next: each of them has a
/// lease_state, with a fence and a loss of its own.
class lease_state {
 public:
  enum class phase { held, released, lost };

  lease_state(std::shared_ptr<holding> of, std::uint64_t fence, instant began) noexcept;

  /// True while it is neither released nor lost and the deadline has not passed. Once false, it stays false.
  [[nodiscard]] bool held(instant now) noexcept;
  [[nodiscard]] phase state() const noexcept { return phase_; }
  /// Returns false if it had ended before.
  bool end(phase how) noexcept;
  /// How the release ended, as far as is known.
  [[nodiscard]] released release_result() const noexcept { return release_result_; }
  void set_release_result(released how) noexcept { release_result_ = how; }

  [[nodiscard]] std::stop_token lost_token();
  /// Marks the loss. Returns what to stop on the executor; nothing if lost_token() was never called.
  [[nodiscard]] std::optional<std::stop_source> mark_lost();
  [[nodiscard]] std::stop_token revoke_token();
  /// Like mark_lost(), for a revoke request.
  [[nodiscard]] std::optional<std::stop_source> mark_revoke_requested();

  [[nodiscard]] const std::shared_ptr<holding>& of() const noexcept { return holding_; }
  [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
  [[nodiscard]] instant began() const noexcept { return began_; }

 private:
  const std::shared_ptr<holding> holding_;
  const std::uint64_t fence_;
  const instant began_;
  std::atomic<phase> phase_{phase::held};
  std::atomic<released> release_result_{released::yes};
  struct notice {
    std::stop_source source{std::nostopstate};  // created by the first call of token()
    bool announced = false;
    [[nodiscard]] std::stop_token token();
    [[nodiscard]] std::optional<std::stop_source> mark();
  };
  struct notices {
    notice lost, revoke;
  };
  runtime::guarded<notices> notices_;
};

/// Why a holding was lost.
enum class loss {
  expired,    ///< the time that was asked for has passed: a fixed lease, or max_hold
  unrenewed,  ///< the store gave no answer before the deadline
  rejected,   ///< the store says that it is not ours
};

/// A claim that was granted. The renewer renews it while local callers hold it one after the other.
class holding {
 public:
  holding(std::string name, terms on, const storage::owner_id&, std::unique_ptr<storage::claim>, const storage::grant&,
          instant now) noexcept;

  const std::string name;
  const terms on;
  const storage::owner_id owner;
  const std::unique_ptr<storage::claim> claim;
  runtime::async_mutex mutex;  ///< held during every call on the claim: a release waits for a renewal in flight

  /// True while local callers wait for this holding in the local queue of its name, and may get it from each other.
  [[nodiscard]] bool heads_queue() const noexcept { return heads_queue_; }
  /// Returns true once: the caller then has to wake the next waiter.
  [[nodiscard]] bool leave_queue() noexcept { return heads_queue_.exchange(false); }
  [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }
  void change_ttl(milliseconds to) noexcept { ttl_ = to; }
  /// The longest ttl that the store was ever asked for, answered or not. After that it has dropped the claim by itself.
  milliseconds longest_ttl;  // guarded by `mutex`
  unsigned unanswered = 0;   ///< renewals since the last answer; guarded by `mutex`

  /// The deadline decides whether the lock is held. It moves only before it has passed: once any thread has seen it
  /// pass, the holding has ended for good.
  [[nodiscard]] instant deadline() const noexcept { return deadline_; }
  /// The time until the deadline, or 0.
  [[nodiscard]] span left(instant now) const noexcept { return std::max(deadline(), now) - now; }
  [[nodiscard]] bool valid(instant now) noexcept;
  /// Never shortens. Returns false if the deadline had passed.
  bool extend(instant to, instant now) noexcept;
  [[nodiscard]] instant must_end() const noexcept { return must_end_; }
  [[nodiscard]] loss loss_at_deadline() const noexcept;

  /// A new lease with the next fence; null if the holding is finished, is to be released, or has no fence left.
  [[nodiscard]] static std::shared_ptr<lease_state> new_lease(const std::shared_ptr<holding>&, instant now);
  [[nodiscard]] unsigned lease_count() const noexcept { return lease_count_; }  ///< all there were so far
  [[nodiscard]] instant began() const noexcept { return began_; }

  /// Another client asks for the lock: from now on there are no new leases. Returns the current lease; null if it was
  /// asked before, or another one is meant, or the holding is finished.
  [[nodiscard]] std::shared_ptr<lease_state> request_revoke(const storage::revoke_request&) noexcept;

  /// Ends the holding. Returns its last lease to one caller only, which has to take care of the claim and of the queue.
  [[nodiscard]] std::shared_ptr<lease_state> finish() noexcept;
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] std::uint64_t fence() const noexcept;  ///< of the current lease, or 0

  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t place = nowhere;  ///< in the renewer's heap, under its lock
  bool awaits_renewal = false;  ///< on the loop only: it is due, and its renewal has not begun

 private:
  struct users {
    bool finished = false;
    bool revoke_requested = false;
    std::uint64_t next_fence = 0;
    std::uint64_t fences_left = 0;
    std::shared_ptr<lease_state> current{};  // it owns the holding: a cycle until finish()
  };
  const instant began_;
  const instant must_end_;
  std::atomic<milliseconds> ttl_;
  std::atomic<instant> deadline_;
  std::atomic<unsigned> lease_count_{0};
  std::atomic<bool> heads_queue_;
  runtime::guarded<users> users_;
};

}  // namespace holdfast::core
