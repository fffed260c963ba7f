#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "directory/byte_locks.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

using runtime::instant;
using std::chrono::milliseconds;

/// One writer at a time among processes, first come, first served. The writer has byte 0 of a file locked. A writer
/// that waits has a ticket, which is the next byte of the file, locked by it; it is the first if no lower ticket is
/// locked. The kernel drops these locks when a process ends, so one that is killed keeps nobody waiting. A process that
/// is stopped while it is the first is overtaken after a while.
///
/// Who has to wait sleeps on a word of the same file, which the kernel can wake and which knows a limit. The numbers in
/// the file are hints: if they are wrong, because a process was killed or something else wrote into the file, the order
/// and some milliseconds are lost, and nothing else. (A program that truncates the file ends those that have it mapped,
/// as with SQLite's own.)
class writers {
 public:
  /// `longest_pause`: if the first in line does not take its turn for this long, the next one does. Throws
  /// storage::failure.
  explicit writers(const folder&, milliseconds longest_pause = milliseconds(500));
  writers(const writers&) = delete;
  writers& operator=(const writers&) = delete;
  ~writers();

  /// To be the one writer, while it lives. Threads of one client must take turns before.
  class turn {
   public:
    /// Waits until then; throws a storage::failure that names who is in the middle of a write.
    turn(writers&, instant until);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { of_.unlock(); }

   private:
    writers& of_;
  };
  /// The number of writers that wait, including those that have left and that nobody has passed since.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return board_->next - board_->served; }
  /// Throws the storage::failure of whoever had no turn in time. It names the process that wrote last: most likely it
  /// still does. (The kernel does not tell whose such a lock is.)
  [[noreturn]] void name_the_one() const;

 private:
  using ticket = std::uint64_t;
  struct board {
    std::atomic<std::int64_t> last;        // the process that wrote last
    std::atomic<std::uint32_t> releases;   // what waiters sleep on
    std::atomic<ticket> next;              // for the next writer that has to wait
    std::atomic<ticket> served;            // lower ones have had their turn, or were overtaken
    std::atomic<std::int64_t> free_since;  // when a writer last left it to a waiter, on the boot clock
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
  class place_in_line;
  [[nodiscard]] bool lock(instant until);  // false: not until then
  void unlock() noexcept;
  [[nodiscard]] bool wait_and_lock(instant until);
  [[nodiscard]] bool first_is_stopped(instant now) const;

  byte_locks file_;
  board* board_;
  const milliseconds longest_pause_;
  const std::int64_t pid_;
};

}  // namespace holdfast::directory
