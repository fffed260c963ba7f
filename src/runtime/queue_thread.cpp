#include "runtime/queue_thread.hpp"

#include <utility>

#include "runtime/thread.hpp"

namespace holdfast::runtime {

namespace {

thread_local queue_thread::batch* under_way = nullptr;

/// Jobs per wake-up. Small enough that both threads are busy at the same time.
constexpr int portion = 32;

}  // namespace

queue_thread::batch::batch() noexcept { under_way = this; }

queue_thread::batch::~batch() {
  under_way = nullptr;
  if (to_wake_ != nullptr) to_wake_->changed_.notify_one();
}

void queue_thread::batch::add(queue_thread& q) noexcept {
  if (to_wake_ != &q || ++saved_ == portion) {
    if (to_wake_ != nullptr) to_wake_->changed_.notify_one();
    saved_ = 0;
  }
  to_wake_ = &q;
}

queue_thread::~queue_thread() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void queue_thread::start() {
  const std::lock_guard lock(mutex_);
  start_locked();
}

void queue_thread::start_locked() {
  if (!thread_.joinable()) thread_ = start_thread(name_, [this] { run(); });
}

void queue_thread::post(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    start_locked();
    jobs_.push_back(std::move(job));
  }
  if (under_way != nullptr) {
    under_way->add(*this);
  } else {
    changed_.notify_one();
  }
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
    taken_.swap(jobs_);
    lock.unlock();
    for (std::function<void()>& job : taken_) {
      job();
      job = nullptr;  // destroys what it owned before the next one runs
    }
    taken_.clear();
    lock.lock();
  }
}

}  // namespace holdfast::runtime
