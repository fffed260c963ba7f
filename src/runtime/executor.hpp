#pragma once
#include <functional>
#include <utility>

#include "runtime/queue_thread.hpp"

namespace holdfast::runtime {

/// Runs user code: callbacks, stop callbacks, resumed user coroutines and the observer. User code never runs on another
/// thread of the library, and never while a lock of ours is held. By default the executor has a thread of its own; a
/// program can supply another one.
class executor {
 public:
  using function = std::function<void()>;
  using poster = std::function<void(function)>;

  /// `complain` is called on the executor with the message of each exception that user code throws.
  executor(poster theirs, std::function<void(const char*)> complain);
  enum class fate { posted, refused, no_memory };
  template <class F>
  fate try_post(F f) noexcept {
    try {
      return enqueue(std::move(f));
    } catch (...) {  // no memory for the function itself
      return fate::no_memory;
    }
  }
  template <class F>
  bool post(F f) noexcept {  ///< returns false if it was refused or there is no memory
    return try_post(std::move(f)) == fate::posted;
  }
  /// True inside a function that an executor runs. Blocking there would delay the notifications of others.
  [[nodiscard]] static bool runs_here() noexcept;

 private:
  fate enqueue(function);
  poster theirs_;
  std::function<void(const char*)> complain_;
  queue_thread notifier_{"holdfast-notify"};
};

}  // namespace holdfast::runtime
