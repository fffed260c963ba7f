#include "holdfast/async.hpp"

#include <optional>
#include <utility>

#include "api/operation.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

template <class T>
awaitable<T>::awaitable(std::shared_ptr<detail::operation<T>> o) noexcept : operation_(std::move(o)) {}

template <class T>
awaitable<T>::awaitable(awaitable&&) noexcept = default;

template <class T>
awaitable<T>::~awaitable() {
  if (operation_ && !operation_->done) operation_->abandon();
}

template <class T>
bool awaitable<T>::await_ready() const noexcept {
  return false;
}

template <class T>
void awaitable<T>::await_suspend(std::coroutine_handle<> waiting) {
  // The coroutine may run to its end elsewhere, and this awaitable with it, before begin() has returned.
  const std::shared_ptr<detail::operation<T>> keep = operation_;
  detail::operation<T>& mine = *keep;
  mine.begin([&mine, waiting](std::exception_ptr error, std::optional<T> value) {
    mine.error = std::move(error);
    mine.value = std::move(value);
    waiting.resume();
  });
}

template <class T>
T awaitable<T>::await_resume() {
  if (operation_->error) std::rethrow_exception(operation_->error);
  return std::move(*operation_->value);
}

template class awaitable<lease>;
template class awaitable<std::optional<lease>>;
template class awaitable<released>;

}  // namespace holdfast
