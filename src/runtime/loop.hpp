#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "runtime/descriptor.hpp"
#include "runtime/duty.hpp"
#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/timers.hpp"

namespace holdfast::runtime {

/// The store's own thread: epoll, and one timerfd on CLOCK_BOOTTIME, since every other timed wait stops when the
/// machine sleeps. Pushes, renewals and async calls run here; what gets ready in one turn goes out in one write.
///
/// A blocking caller whose work is here does not hand it over and sleep, which would cost two changes of threads: it
/// stands in for the loop's own thread, and is the loop's thread for as long.
///
/// The thread starts with the first start(). Every task must have ended before stop().
class loop final : public io {
 public:
  loop();  ///< throws std::system_error when no file descriptors can be had
  ~loop() override;

  [[nodiscard]] instant now() const noexcept override { return boot_clock::now(); }
  [[nodiscard]] std::uint64_t random() override;
  void start() override;
  void stop() noexcept;  ///< joins the thread; not from itself
  void post(resumption&) noexcept override;
  void run_until(resumption&, signal& over) override;
  bool offload(std::function<void()>) override;  ///< to one worker, for libraries that block
  [[nodiscard]] bool is_this_thread() const noexcept;

  enum class interest {
    readable,
    readable_once,
    hang_up,  ///< once: the other side is gone
  };
  /// Calls `ready` on the loop's thread when it happens to the descriptor. It must not block, and may not watch or
  /// unwatch. Throws std::system_error.
  void watch(int fd, std::function<void()> ready, interest = interest::readable);
  /// Calls it also when the watched descriptor can be written; or not any more. On the loop's thread.
  void watch_writable(int fd, bool on) noexcept;
  /// No call is under way or will come after this. No effect if it is not watched.
  void unwatch(int fd) noexcept;

 private:
  void arm(parked& p, instant at) noexcept override { timers_.arm(p, at); }
  void disarm(parked& p) noexcept override { timers_.disarm(p); }
  void run();
  void work();            // what is ready, and what that makes ready
  void turn();            // everything that is ready now
  void hear_and_sleep();  // until something is due or posted
  void nudge() noexcept;
  [[nodiscard]] bool stand_in();
  void stand_down() noexcept;

  descriptor epoll_, timer_, nudge_;
  timers timers_;          // of the loop's thread
  instant armed_ = never;  // what the timerfd is set to
  guarded<resumptions> inbox_;
  guarded<std::unordered_map<int, std::function<void()>>> watched_;
  resumptions ready_;  // of the loop's thread
  std::atomic<bool> ending_{false};
  std::atomic<std::thread::id> id_{};
  duty duty_;
  std::once_flag started_;
  queue_thread worker_{"holdfast-work"};
  std::thread thread_;
};

}  // namespace holdfast::runtime
