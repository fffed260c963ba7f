#pragma once
#include <coroutine>
#include <cstdint>
#include <functional>

#include "runtime/clock.hpp"

namespace holdfast::runtime {

class io;
class signal;

/// A coroutine to be resumed by its io. It contains the link of the queue, so that posting it allocates nothing.
struct resumption {
  std::coroutine_handle<> frame{};
  resumption* next = nullptr;
};

/// A FIFO queue of coroutines.
class resumptions {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(resumption& r) noexcept {
    r.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &r;
    last_ = &r;
  }
  /// Removes and returns the next frame, or a null handle if the queue is empty.
  [[nodiscard]] std::coroutine_handle<> pop() noexcept {
    if (first_ == nullptr) return {};
    const resumption& r = *first_;
    first_ = r.next;
    return r.frame;
  }

 private:
  resumption* first_ = nullptr;
  resumption* last_ = nullptr;
};

/// A suspended coroutine: the io that resumes it, and its timer there. Waiting allocates nothing.
class parked {
 public:
  explicit parked(io& on) noexcept : io_(&on) {}
  parked(const parked&) = delete;
  parked& operator=(const parked&) = delete;

 private:
  friend class io;
  friend class signal;
  friend class waiting;
  friend class timers;
  io* io_;
  signal* at_ = nullptr;
  resumption resumption_;
  // Its links in the heap of timers.
  instant due_{};
  std::uint64_t number_ = 0;
  parked* child_ = nullptr;
  parked* next_ = nullptr;
  parked* previous_ = nullptr;  // the parent, for a first child
  bool armed_ = false;
};

/// What a task uses of its environment: the clock, random numbers, and a way to wait. It is a parameter of every call
/// and never a member, so that one claim can be polled inline by one thread, renewed on the loop, and released inline
/// by another. Sending requests is up to each store.
class io {
 public:
  io(const io&) = delete;
  io& operator=(const io&) = delete;
  virtual ~io() = default;

  [[nodiscard]] virtual instant now() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t random() = 0;

  /// True if tasks never suspend on this io: the calling thread sleeps, reads and writes itself.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }

  /// Starts the thread that runs posted coroutines. Throws std::system_error if it cannot be created.
  virtual void start() {}
  /// Resumes the coroutine on this io. May be called from any thread.
  virtual void post(resumption&) noexcept = 0;
  /// For a blocking caller: resumes the coroutine on this io, which must be started, and returns when `over` is set.
  /// The caller may run the io itself meanwhile.
  virtual void run_until(resumption&, signal& over);
  /// Runs f on a thread where it may block; f notifies its waiter itself. Returns false if the caller has to run f.
  virtual bool offload(std::function<void()>) { return false; }

 protected:
  explicit io(bool in_place) noexcept : in_place_(in_place) {}

 private:
  friend class waiting;
  virtual void arm(parked&, instant) noexcept = 0;  // on this io's thread: wakes it at that time
  virtual void disarm(parked&) noexcept = 0;        // on this io's thread
  const bool in_place_;
};

}  // namespace holdfast::runtime
