#pragma once
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast::runtime {

namespace detail {

template <class T>
class result {
 public:
  void return_value(T value) { value_.emplace(std::move(value)); }
  T take() { return std::move(*value_); }

 private:
  std::optional<T> value_;
};

template <>
class result<void> {
 public:
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

/// A coroutine that starts when it is awaited. It runs on one io from start to end, and is never destroyed while
/// suspended: to cancel it, its wait is ended, and it runs to completion.
///
/// One await per statement, `auto x = co_await f(a, b);`: g++ 12.2 miscompiles more than that (tests/gcc12).
template <class T>
class [[nodiscard]] task {
 public:
  class promise_type : public detail::result<T> {
   public:
    task get_return_object() noexcept { return task(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept { return last{}; }
    void unhandled_exception() noexcept { error_ = std::current_exception(); }

   private:
    friend class task;
    struct last {
      bool await_ready() noexcept { return false; }
      void await_resume() noexcept {}
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().parked_ ? ended.promise().parent_ : std::noop_coroutine();
      }
    };
    std::coroutine_handle<> parent_;
    bool parked_ = false;  // the parent has suspended, and must be resumed
    std::exception_ptr error_;
  };

  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }

  // Starts the child here; if it completes without suspending, the parent continues. Symmetric transfer would exhaust
  // the stack in a loop of ready awaits, because g++ 12 makes no tail call below -O2 or with a sanitizer.
  bool await_suspend(std::coroutine_handle<> parent) {
    promise_type& mine = frame_.promise();
    mine.parent_ = parent;
    frame_.resume();
    if (frame_.done()) return false;
    mine.parked_ = true;
    return true;
  }

  T await_resume() {
    if (frame_.promise().error_) std::rethrow_exception(frame_.promise().error_);
    return frame_.promise().take();
  }

 private:
  template <class U>
  friend U run_inline(task<U>);
  using handle = std::coroutine_handle<promise_type>;
  explicit task(handle frame) noexcept : frame_(frame) {}
  handle frame_;
};

/// Runs a task whose io is an inline_io: nothing in it suspends, so it completes here, on this thread.
template <class T>
T run_inline(task<T> work) {
  work.frame_.resume();
  return work.await_resume();
}

}  // namespace holdfast::runtime
