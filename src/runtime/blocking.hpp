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

/// Runs f, which may block, while the task waits: on the caller's thread for inline_io, on the loop's worker thread, or
/// on the thread `own`. f must not return void; its exceptions are rethrown here.
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
  (void)why;  // there is no limit, so it is always signalled
  if (error) std::rethrow_exception(error);
  co_return std::move(*result);
}

}  // namespace holdfast::runtime
