#pragma once
#include <utility>

#include "holdfast/limit.hpp"
#include "runtime/task_group.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::test {

/// Runs tasks to completion, one after the other, on a clock that only the test moves.
class manual_tasks {
 public:
  manual_io io;

  [[nodiscard]] limit in(span by) const { return limit(io.now() + by); }
  /// A task waits for a lost answer until its limit, which is at most a second away.
  template <class T>
  T end_of(runtime::task<T> work) {
    std::future<T> end = start(running_, std::move(work));
    io.run();
    if (!is_ready(end)) io.advance(std::chrono::seconds(1));
    return end.get();
  }

 private:
  runtime::task_group running_{io};
};

}  // namespace holdfast::test
