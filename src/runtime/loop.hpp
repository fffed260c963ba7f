#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "runtime/descriptor.hpp"
#include "runtime/guarded.hpp"
#include "runtime/io.hpp"
#include "runtime/loop_ownership.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/timers.hpp"

namespace holdfast::runtime {

/// The event loop of a store: epoll, and one timerfd on CLOCK_BOOTTIME, because other timed waits stop while the
/// machine is suspended. Push messages, renewals and async calls run here. Requests that become ready in one iteration
/// are sent in one write.
///
/// The loop has a thread of its own, which starts with the first start(). A blocking caller whose work is done here
/// runs the loop itself for as long as its call lasts, which saves two thread switches (see loop_ownership).
///
/// Every task must have ended before stop().
class loop final : public io {
 public:
  loop();  ///< throws std::system_error if no file descriptor is available
  ~loop() override;

  [[nodiscard]] instant now() const noexcept override { return boot_clock::now(); }
  [[nodiscard]] std::uint64_t random() override;
  void start() override;
  void stop() noexcept;  ///< joins the thread; not to be called on it
  void post(resumption&) noexcept override;
  void run_until(resumption&, signal& over) override;
  bool offload(std::function<void()>) override;  ///< runs it on one worker thread, for libraries that block
  [[nodiscard]] bool is_this_thread() const noexcept;

  enum class interest {
    readable,
    readable_once,
    hang_up,  ///< once: the peer has closed its end
  };
  /// Calls `ready` on the loop's thread when the descriptor is in that state. `ready` must not block, watch or unwatch.
  /// Throws std::system_error.
  void watch(int fd, std::function<void()> ready, interest = interest::readable);
  /// Switches calls for a writable descriptor on or off. On the loop's thread only.
  void watch_writable(int fd, bool on) noexcept;
  /// After this returns, `ready` is not running and will not be called again. Does nothing if `fd` is not watched.
  void unwatch(int fd) noexcept;

 private:
  void arm(parked& p, instant at) noexcept override { timers_.arm(p, at); }
  void disarm(parked& p) noexcept override { timers_.disarm(p); }
  void run();
  void run_ready();  // runs what is ready, and what that makes ready
  void run_once();   // runs what is ready now
  void poll();       // waits for descriptors, timers and posted work
  void interrupt() noexcept;
  [[nodiscard]] bool acquire();
  void release() noexcept;

  descriptor epoll_, timer_, interrupt_;
  timers timers_;          // used by the loop's thread only
  instant armed_ = never;  // what the timerfd is set to
  guarded<resumptions> posted_;
  guarded<std::unordered_map<int, std::function<void()>>> watched_;
  resumptions ready_;  // used by the loop's thread only
  std::atomic<bool> ending_{false};
  std::atomic<std::thread::id> id_{};
  loop_ownership ownership_;
  std::once_flag started_;
  queue_thread worker_{"holdfast-work"};
  std::thread thread_;
};

}  // namespace holdfast::runtime
