#pragma once
#include <deque>
#include <memory>
#include <string>

#include "holdfast/observer.hpp"
#include "runtime/executor.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::core {

/// Takes events to the observer: on the executor, one at a time, in order, and never with a lock held. Copies share.
class reporter {
 public:
  explicit reporter(std::shared_ptr<observer> to);
  [[nodiscard]] bool wanted() const noexcept { return shared_ != nullptr; }
  /// From any thread; nothing without an observer.
  void tell(runtime::executor&, const event&) const noexcept;
  /// The same in two steps, for those who have a lock: note() under it; deliver() after it, if note() said so.
  [[nodiscard]] bool note(const event&) const noexcept;
  void deliver(runtime::executor&) const noexcept;
  /// On the executor only.
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
