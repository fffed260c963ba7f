// A loop over tasks that start by symmetric transfer: each round must leave the stack as it was.
#include <coroutine>
#include <utility>

namespace {

class task {
 public:
  struct promise_type {
    std::coroutine_handle<> caller{};

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
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
  };

  task(task&& other) noexcept : self_(std::exchange(other.self_, {})) {}
  ~task() {
    if (self_) self_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
    self_.promise().caller = caller;
    return self_;
  }
  void await_resume() const noexcept {}
  void start() const { self_.resume(); }

 private:
  explicit task(std::coroutine_handle<promise_type> self) noexcept : self_(self) {}
  std::coroutine_handle<promise_type> self_;
};

task leaf() { co_return; }

task rounds(int count) {
  for (int i = 0; i < count; ++i) co_await leaf();
}

}  // namespace

int main() { rounds(1'000'000).start(); }
