#include "runtime/queue_thread.hpp"

#include <utility>

#include "runtime/thread.hpp"

namespace holdfast::runtime {

queue_thread::~queue_thread() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void queue_thread::post(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = start_thread(name_, [this] { run(); });
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

bool queue_thread::is_this_thread() const noexcept {
  std::lock_guard lock(mutex_);
  return thread_.get_id() == std::this_thread::get_id();
}

void queue_thread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it owned dies here, not under the lock
    lock.lock();
  }
}

}  // namespace holdfast::runtime
