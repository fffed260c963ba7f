#pragma once
#include <coroutine>
#include <memory>

namespace holdfast {

namespace detail {
template <class T>
class operation;
}

/// What an async_ function returns: co_await it once. Nothing is sent before that. The coroutine goes on where the
/// store's executor runs it (by default the store's notifier thread). Destroying a suspended one cancels it; do that on
/// the executor only (with several threads in it: on the coroutine's own strand). `if (co_await ...)` is miscompiled by
/// g++ 12.2: name the result first.
template <class T>
class [[nodiscard]] awaitable {
 public:
  awaitable(awaitable&&) noexcept;
  awaitable& operator=(awaitable&&) = delete;
  ~awaitable();
  [[nodiscard]] bool await_ready() const noexcept;
  void await_suspend(std::coroutine_handle<>);
  T await_resume();  ///< throws lock_error

 private:
  friend class detail::operation<T>;
  explicit awaitable(std::shared_ptr<detail::operation<T>>) noexcept;
  std::shared_ptr<detail::operation<T>> operation_;
};

}  // namespace holdfast
