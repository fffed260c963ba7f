#pragma once
#include <functional>
#include <utility>

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
  enum class fate { posted, refused, no_memory };
  template <class F>
  fate try_post(F f) noexcept {
    try {
      return enqueue(std::move(f));
    } catch (...) {  // not even for the function itself
      return fate::no_memory;
    }
  }
  template <class F>
  bool post(F f) noexcept {  ///< false: it was refused, or there is no memory for it
    return try_post(std::move(f)) == fate::posted;
  }
  /// True inside a function that some executor of ours runs: waiting here would delay the signals of others.
  [[nodiscard]] static bool runs_here() noexcept;

 private:
  fate enqueue(function);
  poster theirs_;
  std::function<void(const char*)> complain_;
  queue_thread notifier_{"holdfast-notify"};
};

}  // namespace holdfast::runtime
