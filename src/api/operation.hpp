#pragma once
#include <chrono>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "api/service.hpp"
#include "holdfast/async.hpp"

namespace holdfast::detail {

/// A call that runs on the loop and delivers its result on the executor, to a coroutine or a callback.
template <class T>
class operation : public std::enable_shared_from_this<operation<T>> {
 public:
  /// Runs on the loop. It may use the stop_token, which is triggered when no caller waits for it any more.
  using work = std::function<runtime::task<T>(service&, std::stop_token)>;
  using ended = std::function<void(std::exception_ptr, std::optional<T>)>;

  operation(std::shared_ptr<service> on, std::string name, std::stop_token also, work what)
      : service_(std::move(on)), name_(std::move(name)), also_(std::move(also)), work_(std::move(what)) {}

  static awaitable<T> to_await(std::shared_ptr<operation> self) { return awaitable<T>(std::move(self)); }

  /// Throws lock_error if the loop cannot run.
  void begin(ended then) {
    then_ = std::move(then);
    link_.emplace(also_, stopper{cancel_});
    const std::shared_ptr<service> on = service_;  // the operation may end and reset service_ before spawn() returns
    on->spawn(name_, drive(this->shared_from_this()));
  }

  /// Called on the executor when no caller waits any more. The result is dropped, and a lease in it released.
  void abandon() noexcept {
    abandoned_ = true;
    cancel_.request_stop();
  }

  std::exception_ptr error;
  std::optional<T> value;
  bool done = false;

 private:
  struct stopper {
    std::stop_source& cancel;
    void operator()() const noexcept { cancel.request_stop(); }
  };

  static runtime::task<void> drive(std::shared_ptr<operation> self) {
    try {
      T result = co_await self->work_(*self->service_, self->cancel_.get_token());
      self->value.emplace(std::move(result));
    } catch (...) {
      self->error = std::current_exception();
    }
    runtime::executor& user = self->service_->executor();
    runtime::io& loop = self->service_->loop();
    using fate = runtime::executor::fate;
    // A caller waits for the result, so without memory it is delivered later.
    while (user.try_post([mine = self] { mine->complete(); }) == fate::no_memory) {
      runtime::signal nothing;
      const runtime::wake why = co_await runtime::wait(loop, nothing, limit(runtime::later(loop.now(), a_while)));
      (void)why;
    }
  }
  static constexpr std::chrono::milliseconds a_while{10};

  void complete() {
    link_.reset();
    done = true;
    work_ = nullptr;   // it may own a claim, which must not outlive the store
    service_.reset();  // a callback that keeps running does not keep the store open
    if (abandoned_) return;
    const ended then = std::exchange(then_, nullptr);
    then(error, std::move(value));
  }

  std::shared_ptr<service> service_;
  const std::string name_;
  const std::stop_token also_;
  work work_;
  std::stop_source cancel_;
  std::optional<std::stop_callback<stopper>> link_;
  ended then_;
  bool abandoned_ = false;
};

}  // namespace holdfast::detail
