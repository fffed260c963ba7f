#pragma once
#include <atomic>
#include <cstdint>

#include "directory/byte_locks.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

using runtime::instant;

/// One writer at a time among processes. The lock is a byte of a file, kept by the kernel, which drops it when the
/// writer is gone, however it went. Who has to wait sleeps on a word of the same file, which the kernel can wake and
/// which knows a limit; should that word ever be wrong (a waiter was killed, somebody wrote into the file), it costs
/// milliseconds, and nothing else. (Whoever cuts the file short ends those who have it mapped, as with SQLite's own.)
class writers {
 public:
  explicit writers(const folder&);  ///< throws seam::failure
  writers(const writers&) = delete;
  writers& operator=(const writers&) = delete;
  ~writers();

  /// To be the one writer, while it lives. Threads of one client must take turns before.
  class turn {
   public:
    /// Waits until then; throws a seam::failure that names who is in the middle of a write.
    turn(writers&, instant until);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { of_.unlock(); }

   private:
    writers& of_;
  };
  /// Throws the seam::failure of whoever had no turn in time. It names the process that wrote last: most likely it
  /// still does. (The kernel does not tell whose such a lock is.)
  [[noreturn]] void name_the_one() const;

 private:
  struct board {
    std::atomic<std::int64_t> last;
    std::atomic<std::uint32_t> releases;
    std::atomic<std::uint32_t> waiting;
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
  [[nodiscard]] bool lock(instant until);  // false: not until then
  void unlock() noexcept;
  [[nodiscard]] bool wait_and_lock(instant until, std::uint32_t seen);

  byte_locks file_;
  board* board_;
};

}  // namespace holdfast::directory
