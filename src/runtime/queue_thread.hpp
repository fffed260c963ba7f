#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::runtime {

/// A thread that runs jobs in order. It starts with the first job. The destructor runs the remaining jobs and joins it.
class queue_thread {
 public:
  explicit queue_thread(const char* name) noexcept : name_(name) {}
  queue_thread(const queue_thread&) = delete;
  queue_thread& operator=(const queue_thread&) = delete;
  ~queue_thread();

  /// Starts the thread before the first job. From any thread; throws std::system_error if it cannot start.
  void start();
  void post(std::function<void()> job);  ///< the same, with a job
  [[nodiscard]] bool is_this_thread() const noexcept;

  /// While a batch exists, jobs that its thread posts wake the queue's thread in groups instead of one by one. No job
  /// waits longer than until the batch is destroyed. The queue must outlive the batch.
  class batch {
   public:
    batch() noexcept;
    ~batch();
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;

   private:
    friend class queue_thread;
    void add(queue_thread&) noexcept;
    queue_thread* to_wake_ = nullptr;
    int saved_ = 0;
  };

 private:
  void run();
  void start_locked();
  const char* const name_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::deque<std::function<void()>> taken_;  // used by the thread; kept, so that taking jobs allocates nothing
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::runtime
