#pragma once
#include <atomic>

#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"

namespace holdfast::runtime {

/// A mutex that a task of any context can wait for, first come, first served. Whoever has it calls leave().
class turn {
 public:
  /// True: it is ours. No wait, no frame: the way in when nobody else is there.
  [[nodiscard]] bool try_enter() noexcept;
  /// False: the limit came first.
  [[nodiscard]] task<bool> enter(io&, limit);
  void leave() noexcept;

 private:
  struct waiter {
    signal called;
    waiter* next = nullptr;
  };
  struct line {
    waiter* first = nullptr;
    [[nodiscard]] bool remove(const waiter*) noexcept;
  };
  enum class state : unsigned char { free, taken, waited_for };
  std::atomic<state> state_{state::free};  // waited_for is set under the line's lock only
  guarded<line> line_;
};

/// Whoever has the turn leaves it at the end of the scope.
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
