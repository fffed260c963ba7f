#pragma once
#include <atomic>

#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::runtime {

/// A FIFO mutex that tasks of any io can wait for.
class turn {
 public:
  /// Returns true if it was acquired. Needs no coroutine frame.
  [[nodiscard]] bool try_enter() noexcept;
  /// Returns false if the limit ended first.
  [[nodiscard]] task<bool> enter(io&, limit);
  void leave() noexcept;

 private:
  enum class state : unsigned char { free, taken, waited_for };
  std::atomic<state> state_{state::free};  // waited_for is set under the lock of waiters_ only
  guarded<wait_list<>> waiters_;
};

/// Unlocks it at the end of the scope.
class [[nodiscard]] taken_turn {
 public:
  explicit taken_turn(turn& t) noexcept : turn_(t) {}
  taken_turn(const taken_turn&) = delete;
  taken_turn& operator=(const taken_turn&) = delete;
  ~taken_turn() { turn_.leave(); }

 private:
  turn& turn_;
};

}  // namespace holdfast::runtime
