#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "storage/owner.hpp"
#include "storage/share.hpp"

namespace holdfast::storage {

/// The claims of one name, and the rule by which they are admitted: in order of arrival, the first as soon as its part
/// is free. Does no I/O and reads no clock. Every store follows this rule, in C++, Lua or SQL; the conformance suite
/// compares each of them with this class.
class lock_queue {
 public:
  struct waiter {
    owner_id owner{};
    share wants{};
    std::chrono::milliseconds ttl{};
    std::string label{};
    runtime::instant since{};                              ///< when it entered the queue
    runtime::instant leaves_at = runtime::instant::max();  ///< unless it polls again
  };
  struct holder {
    owner_id owner{};
    std::uint32_t part = share::lock;
    std::uint64_t fence = 0;
    std::string label{};
    runtime::instant since{};  ///< of readers: since when readers have held it without a break
    runtime::instant expires{};
  };
  /// Returns the first fence of a new block.
  using fence_allocator = std::function<std::uint64_t(const share&)>;

  /// Tells a waiter to poll: it was admitted, or an unfair holder has released the lock. Must not throw.
  using notifier = std::function<void(const owner_id&)>;

  lock_queue(fence_allocator next_fence, notifier notify)
      : next_fence_(std::move(next_fence)), notify_(std::move(notify)) {}

  enum class mode {
    queue,  ///< wait in the queue
    once,   ///< do not wait
    unfair  ///< wait, but take a free lock although others wait
  };
  /// Admits the claim, extends it if it was admitted before, or lets it wait. Returns the holder, or a null pointer if
  /// the lock is busy. Throws failure if the name is in use with another number of permits.
  const holder* acquire(const waiter&, mode, runtime::instant now);
  /// Never shortens. Returns false if the claim does not hold the lock.
  bool renew(const owner_id&, std::chrono::milliseconds ttl, runtime::instant now);
  /// Makes the holder of the whole lock a reader. Returns false if it does not hold the lock, or holds a later grant.
  bool downgrade(const owner_id&, std::uint64_t fence, std::chrono::milliseconds ttl, runtime::instant now);
  /// Ends a holder or a waiter. Returns false if it was neither. An unfair holder leaves the lock free for the first
  /// claim that polls.
  bool release(const owner_id&, bool unfair, runtime::instant now);
  /// Ends these holders together, so that a waiting reader does not join one of them.
  void break_holders(const std::vector<owner_id>&, runtime::instant now);
  /// Ends a waiter. Admits no waiter: the next poll or release does.
  void leave(const owner_id& owner) noexcept { remove_waiter(owner); }
  /// Changes the number of permits. Holders keep what they have.
  void resize(std::uint32_t whole, runtime::instant now);

  [[nodiscard]] std::uint32_t whole() const noexcept { return whole_; }
  [[nodiscard]] const std::vector<holder>& holders() const noexcept { return holders_; }
  [[nodiscard]] const std::deque<waiter>& waiters() const noexcept { return waiters_; }
  [[nodiscard]] bool idle() const noexcept { return holders_.empty() && waiters_.empty(); }
  [[nodiscard]] bool waits(const owner_id&) const noexcept;
  /// Removes expired holders and waiters. Admits no waiter.
  void drop_expired(runtime::instant now);

 private:
  [[nodiscard]] bool has_room_for(const share&) const noexcept;
  [[nodiscard]] holder* find(const owner_id&) noexcept;
  holder& admit(const waiter&, runtime::instant now);
  void admit_first(runtime::instant now);
  bool remove_holder(const owner_id&);
  bool remove_waiter(const owner_id&) noexcept;

  fence_allocator next_fence_;
  notifier notify_;
  std::uint32_t whole_ = 0;
  std::int64_t used_ = 0;
  std::vector<holder> holders_;
  std::deque<waiter> waiters_;
};

}  // namespace holdfast::storage
