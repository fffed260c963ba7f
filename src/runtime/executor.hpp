#pragma once
#include <functional>

#include "runtime/queue_thread.hpp"

namespace holdfast::runtime {

/// Where user code runs: callbacks, stop callbacks, resumed user coroutines, the observer. Never on a borrowed thread,
/// never with a lock of ours held. By default its own notifier thread, else whatever the program gave.
class executor {
 public:
  using function = std::function<void()>;
  using poster = std::function<void(function)>;

  /// `complain` hears, on the executor, what user code threw.
  executor(poster theirs, std::function<void(const char*)> complain);
  bool post(function) noexcept;  ///< false: it was refused
  /// True inside a function that some executor of ours runs: waiting here would delay the signals of others.
  [[nodiscard]] static bool runs_here() noexcept;

 private:
  poster theirs_;
  std::function<void(const char*)> complain_;
  queue_thread notifier_{"holdfast-notify"};
};

}  // namespace holdfast::runtime
