#pragma once
#include "runtime/io.hpp"
#include "runtime/random.hpp"
#include "runtime/signal.hpp"

namespace holdfast::runtime {

/// The io of a blocking caller, which runs the whole call on its own thread, I/O included. Every await completes in
/// await_ready, so no frame outlives the call and no other thread can resume it.
class inline_io final : public io {
 public:
  inline_io() noexcept : io(true) {}
  [[nodiscard]] instant now() const noexcept override { return boot_clock::now(); }
  [[nodiscard]] std::uint64_t random() override { return random_bits(); }
  void post(resumption&) noexcept override {}

 private:
  void arm(parked&, instant) noexcept override {}
  void disarm(parked&) noexcept override {}
};

/// wait() for a blocking caller outside a task: this thread sleeps.
inline wake wait_here(signal& s, const limit& l) {
  inline_io here;
  waiting w = wait(here, s, l);
  (void)w.await_ready();
  return w.await_resume();
}

}  // namespace holdfast::runtime
