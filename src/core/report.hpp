#pragma once
#include <deque>
#include <memory>
#include <string>

#include "holdfast/observer.hpp"
#include "runtime/executor.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::core {

/// Passes events to the observer: on the executor, one at a time, in order, and never with a lock held. Copies share
/// their state.
class reporter {
 public:
  explicit reporter(std::shared_ptr<observer> to);
  [[nodiscard]] bool wanted() const noexcept { return shared_ != nullptr; }
  /// Thread-safe. Has no effect without an observer.
  void tell(runtime::executor&, const event&) const noexcept;
  /// tell() in two steps, for a caller that has a lock: note() under it; deliver() after it, if note() returned true.
  [[nodiscard]] bool note(const event&) const noexcept;
  void deliver(runtime::executor&) const noexcept;
  /// May be called on the executor only.
  void tell_here(const event&) const noexcept;

 private:
  struct copy {
    event what;
    std::string name, text;
  };
  struct queue {
    std::deque<copy> events;
    bool draining = false;
  };
  struct shared {
    std::shared_ptr<observer> to;
    runtime::guarded<queue> waiting;
    void drain() noexcept;
  };
  std::shared_ptr<shared> shared_;
};

}  // namespace holdfast::core
