#pragma once
#include <coroutine>
#include <exception>
#include <utility>

namespace holdfast::test {

/// A coroutine as users of the library write it, which starts at once and runs detached. Its frame is destroyed at its
/// end, or by destroy() while it is suspended.
class user_coroutine {
 public:
  struct promise_type {
    user_coroutine get_return_object() noexcept {
      return user_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };

  void destroy() { std::exchange(frame_, {}).destroy(); }

 private:
  explicit user_coroutine(std::coroutine_handle<> frame) noexcept : frame_(frame) {}
  std::coroutine_handle<> frame_;
};

}  // namespace holdfast::test
