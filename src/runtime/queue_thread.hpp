#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::runtime {

/// One thread that runs what it is given, in order. It starts with the first job; the destructor runs what is left, and
/// joins.
class queue_thread {
 public:
  explicit queue_thread(const char* name) noexcept : name_(name) {}
  queue_thread(const queue_thread&) = delete;
  queue_thread& operator=(const queue_thread&) = delete;
  ~queue_thread();

  void post(std::function<void()> job);  ///< from any thread; throws std::system_error when no thread can be had
  [[nodiscard]] bool is_this_thread() const noexcept;

 private:
  void run();
  const char* const name_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::runtime
