#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/holding.hpp"
#include "runtime/guarded.hpp"
#include "runtime/wait_list.hpp"
#include "storage/answer.hpp"

namespace holdfast::core {

/// A caller of this process that wants a lock. It is woken with the lease, or with a failure, or, if it has neither, to
/// ask the store itself.
class waiter : public runtime::list_waiter {
 public:
  explicit waiter(const terms& wanted) noexcept : wants(wanted) {}
  const terms& wants;
  std::shared_ptr<lease_state> given;
  std::optional<storage::failure> failed;
  bool settled = false;  ///< it has left the queue, and has seen why it was woken

  /// The store has answered the head, which this waiter is: those behind it wait for a holder, not for the store.
  void note_answer() noexcept {
    progress_->answered = true;
    ++progress_->answers;
  }
  /// True if the store has answered a caller before this waiter.
  [[nodiscard]] bool saw_answers() const noexcept { return progress_->answers != seen_; }

 private:
  friend class local_queue;
  struct progress {
    std::atomic<bool> answered{false};  // the current head
    std::atomic<unsigned> answers{0};   // all heads so far
  };
  progress alone_;
  progress* progress_ = &alone_;  // that of the queue, if the waiter is in one
  unsigned seen_ = 0;             // answers before this waiter came
};

/// One of the callers in this process that want the same lock, the head, asks the store. The others wait here in order
/// of arrival. Readers and callers that take permits do not come here: each has its own place in the store's queue.
class local_queue {
 public:
  enum class position {
    head,     ///< ask the store, and call wake_next() or hand_over() in the end
    waiting,  ///< wait for `woken`
    busy,     ///< there is another head, and this caller may not wait
  };
  [[nodiscard]] position enter(const std::string& name, waiter&, bool may_wait);
  /// Stops waiting. Returns false if the waiter has been woken.
  [[nodiscard]] bool leave(const std::string& name, waiter&) noexcept;
  /// The head leaves. The first waiter becomes the head and is woken to ask the store.
  void wake_next(const std::string& name) noexcept;
  /// Same as above, but the first waiter gets a lease of the holding. Returns false if there is no waiter, or the first
  /// one wants other terms, or the holding has no lease left to give; the head is then still the head. `before_wake`
  /// runs under the lock.
  bool hand_over(const std::shared_ptr<holding>&, instant now, const std::function<void()>& before_wake = nullptr);

  /// The head gets no answer from the store, because of this failure; or it gets answers again.
  void set_failure(const std::string& name, const storage::failure&);
  void recovered(const std::string& name) noexcept;
  /// For a waiter that has waited in vain, it is also a failure if the store has said nothing meanwhile.
  [[nodiscard]] std::optional<storage::failure> failure_at(const std::string& name, const waiter* = nullptr) const;
  /// Wakes all waiters with this failure.
  void fail_waiters(const std::string& name, const storage::failure&);

  [[nodiscard]] std::size_t size() const noexcept;  ///< names with a head

 private:
  struct entry {
    runtime::wait_list<waiter> waiters;
    std::unique_ptr<storage::failure> failure;
    waiter::progress progress;
  };
  runtime::guarded<std::unordered_map<std::string, entry>> entries_;
};

}  // namespace holdfast::core
