#pragma once
#include <coroutine>
#include <cstdint>
#include <functional>

#include "runtime/clock.hpp"

namespace holdfast::runtime {

class io;
class signal;

/// A coroutine that is to be resumed at home, and its link in the line there: to post it takes no memory.
struct resumption {
  std::coroutine_handle<> frame{};
  resumption* next = nullptr;
};

/// First in, first out.
class resumptions {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(resumption& r) noexcept {
    r.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &r;
    last_ = &r;
  }
  /// The frame to resume; none if it is empty. The link is free again.
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

/// A coroutine that waits: where it is at home, and its timer there. To wait takes no memory.
class parked {
 public:
  explicit parked(io& home) noexcept : home_(&home) {}
  parked(const parked&) = delete;
  parked& operator=(const parked&) = delete;

 private:
  friend class io;
  friend class signal;
  friend class waiting;
  friend class timers;
  io* home_;
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

/// What a task sees of the world: the clock, randomness, and a way to wait. A parameter of every call, never a member,
/// so that one claim can be polled inline by one thread, renewed on the loop, and released inline by another. How a
/// request travels is each store's own.
class io {
 public:
  io(const io&) = delete;
  io& operator=(const io&) = delete;
  virtual ~io() = default;

  [[nodiscard]] virtual instant now() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t random() = 0;

  /// True: nothing ever suspends here; the calling thread sleeps, reads and writes itself.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }

  /// Makes sure that post() has somebody to post to. Throws std::system_error when no thread can be had.
  virtual void start() {}
  /// From any thread: resume it at home.
  virtual void post(resumption&) noexcept = 0;
  /// For a blocking caller: resumes it at home, which is started, and comes back when `over` is set by what that
  /// begins. Meanwhile the caller may be home itself.
  virtual void run_until(resumption&, signal& over);
  /// Runs f where it may block, then posts nothing: f itself tells its waiter. False: run it yourself, right here.
  virtual bool offload(std::function<void()>) { return false; }

 protected:
  explicit io(bool in_place) noexcept : in_place_(in_place) {}

 private:
  friend class waiting;
  virtual void arm(parked&, instant) noexcept = 0;  // on the home thread: wake it then
  virtual void disarm(parked&) noexcept = 0;        // on the home thread
  const bool in_place_;
};

}  // namespace holdfast::runtime
