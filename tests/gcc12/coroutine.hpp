/// A task like the one of src/runtime, cut down to what the forms need, and the things they pass around.
#pragma once
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gcc12 {

/// Counts itself: after a form has run, as many must have died as were born.
class probe {
 public:
  static inline int alive = 0;

  probe() noexcept { ++alive; }
  explicit probe(int value) noexcept : value_(value) { ++alive; }
  probe(const probe& other) noexcept : value_(other.value_) { ++alive; }
  probe& operator=(const probe&) = default;
  ~probe() { --alive; }

  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_ = 0;
};

/// Suspends when the run asks for it, so that each form is tried both with callees that end at once and with callees
/// that come back later, when the caller's stack is gone.
struct pause {
  static inline bool suspends = false;
  static inline std::coroutine_handle<> suspended{};

  [[nodiscard]] bool await_ready() const noexcept { return !suspends; }
  void await_suspend(std::coroutine_handle<> self) const noexcept { suspended = self; }
  void await_resume() const noexcept {}
};

/// Where a task's result or its exception waits for its awaiter.
template <class T>
struct outcome {
  std::optional<T> value{};
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};

template <>
struct outcome<void> {
  void return_void() const noexcept {}
  void take() const noexcept {}
};

template <class T>
class task {
 public:
  struct promise_type : outcome<T> {
    std::coroutine_handle<> caller{};  ///< set once the caller sleeps
    std::exception_ptr error{};

    struct last {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
        return self.promise().caller ? self.promise().caller : std::noop_coroutine();
      }
      void await_resume() const noexcept {}
    };

    task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    last final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  task(task&& other) noexcept : self_(std::exchange(other.self_, {})) {}
  ~task() {
    if (self_) self_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    self_.resume();
    if (self_.done()) return false;
    self_.promise().caller = caller;
    return true;
  }
  T await_resume() {
    if (self_.promise().error) std::rethrow_exception(self_.promise().error);
    return self_.promise().take();
  }

  /// Runs it from outside, over as many pauses as there are. Empty: it came back without an end and without a pause;
  /// such a frame is in no state to be destroyed, and is left behind.
  std::optional<T> run() {
    self_.resume();
    while (pause::suspended) {
      overwrite_stack();
      std::exchange(pause::suspended, {}).resume();
    }
    if (self_.done()) return await_resume();
    self_ = {};
    return std::nullopt;
  }

 private:
  explicit task(std::coroutine_handle<promise_type> self) noexcept : self_(self) {}

  /// Overwrites the stack of the dead caller, so that a dangling pointer into it reads garbage.
  static void overwrite_stack() {
    char junk[4096];
    for (volatile char& byte : junk) byte = 0x5a;
  }

  std::coroutine_handle<promise_type> self_;
};

/// An aggregate with a member that needs its destructor: the one that must not be made inside a co_await.
struct aggregate {
  int number = 0;
  probe watched{};
};

/// Same as above, with a constructor.
class made {
 public:
  made(int number, probe watched) : number_(number), watched_(watched) {}
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
  probe watched_;
};

/// An awaiter that is always ready and has a member that needs its destructor.
struct ready {
  probe watched{};
  int number = 0;

  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  [[nodiscard]] int await_resume() const noexcept { return number; }
};

// What the forms await: awaiters (now_...) and tasks, each by the kind of its argument.

inline ready now_aggregate(aggregate a) { return {a.watched, a.number}; }
inline ready now_reference(const aggregate& a) { return {a.watched, a.number}; }
inline ready now_made(made m) { return {probe(), m.number()}; }
inline ready now_probe(probe p) { return {p, p.value()}; }

inline task<int> take_int(int value) {
  co_await pause();
  co_return value;
}
inline task<bool> take_bool(bool value) {
  co_await pause();
  co_return value;
}
inline task<int> take_probe(probe p) {
  co_await pause();
  co_return p.value();
}
inline task<int> take_aggregate(aggregate a) {
  co_await pause();
  co_return a.number;
}
inline task<int> take_reference(const aggregate& a) {
  co_await pause();
  co_return a.number;
}
inline task<int> take_optional(std::optional<aggregate> a) {
  co_await pause();
  co_return a ? a->number : 0;
}
inline task<int> take_made(made m) {
  co_await pause();
  co_return m.number();
}
inline task<int> take_text(std::string text) {
  co_await pause();
  co_return static_cast<int>(text.size());
}
inline task<int> take_pointer(std::unique_ptr<probe> p) {
  co_await pause();
  co_return p->value();
}
template <class Function>
task<int> take_function(Function f) {
  co_await pause();
  co_return f();
}
inline task<void> take_nothing() { co_await pause(); }
inline task<int> fail_with(probe p) {
  co_await pause();
  throw p.value();
}

}  // namespace gcc12
