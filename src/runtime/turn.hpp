#pragma once
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
    bool taken = false;
    waiter* first = nullptr;
    [[nodiscard]] bool remove(const waiter*) noexcept;
  };
  guarded<line> line_;
};

}  // namespace holdfast::runtime
