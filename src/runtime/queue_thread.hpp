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

  /// While one lives, what its thread posts to one queue is taken up in portions: a wake-up for many jobs, and not one
  /// for each. None waits for longer than the batch lives, and the queue lives longer.
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
  const char* const name_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::deque<std::function<void()>> taken_;  // of the thread; made once, so that to take some needs no memory
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace holdfast::runtime
