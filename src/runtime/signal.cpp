#include "runtime/signal.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <ctime>

namespace holdfast::runtime {

namespace {

// The flags are in the low half of the word, which is what the kernel compares.
std::uint32_t* low_half(std::atomic<std::uint64_t>& word) noexcept {
  return reinterpret_cast<std::uint32_t*>(&word) + (std::endian::native == std::endian::little ? 0 : 1);
}

void futex_wait(std::atomic<std::uint64_t>& word, std::uint64_t seen, instant until) noexcept {
  timespec relative{};
  if (until != never) {
    const span left = std::max(until - boot_clock::now(), span::zero());
    relative.tv_sec = left.count() / 1'000'000'000;
    relative.tv_nsec = left.count() % 1'000'000'000;
  }
  ::syscall(SYS_futex, low_half(word), FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(seen),
            until == never ? nullptr : &relative, nullptr, 0);
}

// Uses the address only: the word may be destroyed by now. Then no thread sleeps there, or one that checks again.
void futex_wake(std::atomic<std::uint64_t>& word) noexcept {
  ::syscall(SYS_futex, low_half(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace

void signal::raise(std::uint64_t bit) noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);
  while (!state_.compare_exchange_weak(seen, (seen & (set_bit | stop_bit)) | bit, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
  }
  // From here on the waiter may be gone, unless it is a parked coroutine, which only we can wake.
  if (auto* waiter = reinterpret_cast<parked*>(seen & ~flags)) {
    waiter->io_->post(waiter->resumption_);
  } else if (seen & asleep_bit) {
    futex_wake(state_);
  }
}

std::optional<wake> signal::take() noexcept {
  const std::uint64_t seen = state_.load(std::memory_order_acquire);
  if (seen & set_bit) {
    state_.fetch_and(~set_bit, std::memory_order_acq_rel);
    return wake::signalled;
  }
  if (seen & stop_bit) return wake::stopped;
  return std::nullopt;
}

wake signal::sleep(instant until) noexcept {
  for (;;) {
    if (const auto raised = take()) return *raised;
    std::uint64_t seen = 0;
    if (until != never && boot_clock::now() >= until) {
      state_.fetch_and(~asleep_bit, std::memory_order_acq_rel);
      return take().value_or(wake::late);
    }
    if (state_.compare_exchange_strong(seen, asleep_bit, std::memory_order_acq_rel) || seen == asleep_bit) {
      futex_wait(state_, asleep_bit, until);
    }
  }
}

bool signal::park(parked& waiter) noexcept {
  std::uint64_t seen = 0;
  return state_.compare_exchange_strong(seen, reinterpret_cast<std::uint64_t>(&waiter), std::memory_order_acq_rel);
}

bool signal::unpark(const parked& waiter) noexcept {
  auto seen = reinterpret_cast<std::uint64_t>(&waiter);
  return state_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel);
}

bool waiting::await_ready() {
  if (limit_.stop().stop_possible()) stop_.emplace(limit_.stop(), stopper{signal_});
  if (parked_.io_->in_place()) {
    ready_ = signal_.sleep(limit_.at());
  } else {
    ready_ = signal_.take();
    if (!ready_ && parked_.io_->now() >= limit_.at()) ready_ = wake::late;
  }
  return ready_.has_value();
}

bool waiting::await_suspend(std::coroutine_handle<> frame) {
  parked_.resumption_.frame = frame;
  parked_.at_ = &signal_;
  if (limit_.at() != never) parked_.io_->arm(parked_, limit_.at());
  return signal_.park(parked_);
}

wake waiting::await_resume() noexcept {
  if (stop_) {
    stop_.reset();  // waits for a running callback, so none touches the signal after this
    if (!ready_) ready_ = signal_.take();
    signal_.forget_stop();
  }
  if (parked_.armed_) parked_.io_->disarm(parked_);
  if (!ready_) ready_ = signal_.take();
  return ready_.value_or(wake::late);
}

}  // namespace holdfast::runtime
