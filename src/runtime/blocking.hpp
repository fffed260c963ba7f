#pragma once
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/io.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"

namespace holdfast::runtime {

/// Runs f, which may block: right here for an inline caller, on the worker for the loop, or on a thread of its own,
/// while the task waits. f's result must not be void; what it throws is thrown here.
template <class F>
task<std::invoke_result_t<F&>> blocking(io& i, F f, queue_thread* own = nullptr) {
  std::optional<std::invoke_result_t<F&>> result;
  std::exception_ptr error;
  signal done;
  const auto run = [&]() noexcept {
    try {
      result.emplace(f());
    } catch (...) {
      error = std::current_exception();
    }
    done.set();
  };
  if (own != nullptr) {
    own->post(run);
  } else if (!i.offload(run)) {
    run();
  }
  const wake why = co_await wait(i, done);
  (void)why;  // no limit: it cannot be cut
  if (error) std::rethrow_exception(error);
  co_return std::move(*result);
}

}  // namespace holdfast::runtime
