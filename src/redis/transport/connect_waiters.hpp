#pragma once
#include <atomic>
#include <optional>

#include "runtime/guarded.hpp"
#include "runtime/wait_list.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

/// Callers that wait for a connection, and whether a task is connecting for them. From any thread.
class connect_waiters {
 public:
  class waiter : public runtime::list_waiter {
   public:
    explicit waiter(connect_waiters& where) noexcept : where_(where) {}
    ~waiter() { (void)leave(); }
    /// Returns false if it was woken, or never entered.
    [[nodiscard]] bool leave() noexcept;

    std::optional<storage::failure> why;  ///< once it is woken: why there is no connection

   private:
    connect_waiters& where_;
  };

  /// `open` says whether there is a connection. It is set before wake_all().
  explicit connect_waiters(const std::atomic<bool>& open) noexcept : open_(open) {}

  enum class entry {
    open,     ///< there is a connection: no need to wait
    waiting,  ///< a task is connecting, and will wake the waiter
    first     ///< the waiter has to start the task that connects until stop_connecting() says yes
  };
  [[nodiscard]] entry enter(waiter&) noexcept;
  /// The task could not be started: the next one to enter is the first again.
  void give_up_connecting() noexcept;
  /// Wakes all, because there is a connection, or with the reason why there is none.
  void wake_all(const std::optional<storage::failure>& why) noexcept;
  /// Called by the task. Returns false if there are waiters, so that it has to go on.
  [[nodiscard]] bool stop_connecting() noexcept;

 private:
  struct state {
    bool connecting = false;
    runtime::wait_list<waiter> all;
  };
  const std::atomic<bool>& open_;
  runtime::guarded<state> state_;
};

}  // namespace holdfast::redis
