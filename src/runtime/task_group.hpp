#pragma once
#include <atomic>
#include <coroutine>
#include <exception>
#include <utility>

#include "runtime/io.hpp"
#include "runtime/task.hpp"

namespace holdfast::runtime {

/// Detached tasks that run on one io, and a way to wait until all of them have ended.
class task_group {
 public:
  explicit task_group(io& on) noexcept : io_(on) {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Starts the task. May be called from any thread. Exceptions of the task are dropped.
  void spawn(task<void> work) {
    const root made = drive(*this, std::move(work));
    ++running_;
    io_.post(made.frame.promise().start);
  }

  /// Starts the task and blocks the calling thread until the task has set `over`.
  void run_until(task<void> work, signal& over) {
    io_.start();  // may throw; nothing has started yet
    const root made = drive(*this, std::move(work));
    ++running_;
    io_.run_until(made.frame.promise().start, over);
  }

  [[nodiscard]] int running() const noexcept { return running_; }

  /// Blocks. Not to be called on the io's own thread.
  void wait_until_empty() const noexcept {
    for (int n = running_; n != 0; n = running_) running_.wait(n);
  }

 private:
  struct root {
    struct promise_type {
      root get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() noexcept {}
      [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
      resumption start{std::coroutine_handle<promise_type>::from_promise(*this)};
    };
    std::coroutine_handle<promise_type> frame;
  };

  static root drive(task_group& self, task<void> work) {
    try {
      task<void> mine = std::move(work);
      co_await mine;
    } catch (...) {
    }  // what the task owned is destroyed before it counts as ended
    if (--self.running_ == 0) self.running_.notify_all();
  }

  io& io_;
  std::atomic<int> running_{0};
};

}  // namespace holdfast::runtime
