#pragma once
#include <exception>
#include <future>
#include <utility>

#include "runtime/task.hpp"
#include "runtime/task_group.hpp"
#include "support/bounds.hpp"

namespace holdfast::test {

namespace detail {

template <class T>
runtime::task<void> deliver(runtime::task<T> work, std::promise<T> to) {
  try {
    T result = co_await work;
    to.set_value(std::move(result));
  } catch (...) {
    to.set_exception(std::current_exception());
  }
}

inline runtime::task<void> deliver(runtime::task<void> work, std::promise<void> to) {
  try {
    co_await work;
    to.set_value();
  } catch (...) {
    to.set_exception(std::current_exception());
  }
}

}  // namespace detail

/// Runs a task in a task_group; the future has its result.
template <class T>
[[nodiscard]] std::future<T> start(runtime::task_group& in, runtime::task<T> work) {
  std::promise<T> result;
  std::future<T> future = result.get_future();
  in.spawn(detail::deliver(std::move(work), std::move(result)));
  return future;
}

template <class T>
[[nodiscard]] bool is_ready(const std::future<T>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace holdfast::test
