#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "directory/sessions.hpp"
#include "runtime/clock.hpp"

namespace holdfast::directory {

using runtime::instant;
using std::chrono::milliseconds;

/// Admits one writer at a time among processes, in arrival order. The writer has byte 0 of the file "writers" locked. A
/// waiting writer has a ticket, which is the next byte of the file, locked by it. It is the first if no lower ticket is
/// locked. The kernel drops these locks when a process ends, so a killed process delays no other. A process that is
/// stopped while it is the first is overtaken after a pause.
///
/// Waiters sleep on a word of the same file, because a futex has a timeout. The numbers in the file are hints: if they
/// are wrong, because a process was killed or another program wrote into the file, only the order and some milliseconds
/// are lost. (A program that truncates the file crashes the processes that have it mapped, as with SQLite's own.)
class writer_lock {
 public:
  /// `longest_pause`: how long the first in line may leave a free turn unused before the next one takes it. Throws
  /// storage::failure.
  explicit writer_lock(const folder&, milliseconds longest_pause = milliseconds(500));
  writer_lock(const writer_lock&) = delete;
  writer_lock& operator=(const writer_lock&) = delete;
  ~writer_lock();

  /// Makes its process the one writer while it lives. For one thread of a client at a time.
  class turn {
   public:
    /// Waits until `until`. Throws a storage::failure that names the process in the middle of a write.
    turn(writer_lock&, instant until);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { lock_.unlock(); }

   private:
    writer_lock& lock_;
  };
  /// The number of writers that wait, including those that have left and that no other has passed since.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return board_->next - board_->served; }
  /// Throws the storage::failure of a caller that had no turn in time. It names the process that wrote last, which most
  /// likely still does. (The kernel does not report the owner of such a lock.)
  [[noreturn]] void fail_as_late() const;

 private:
  using ticket = std::uint64_t;
  struct board {
    std::atomic<std::int64_t> last;        // the process that wrote last
    std::atomic<std::uint32_t> releases;   // the futex word
    std::atomic<ticket> next;              // for the next writer that has to wait
    std::atomic<ticket> served;            // lower tickets have had their turn, or were overtaken
    std::atomic<std::int64_t> free_since;  // when a writer last left the lock to a waiter, on the boot clock
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
  class queued_ticket;
  [[nodiscard]] bool lock(instant until);  // returns false if `until` has passed
  void unlock() noexcept;
  [[nodiscard]] bool wait_and_lock(instant until);
  [[nodiscard]] bool first_is_stopped(instant now) const;

  byte_locks file_;
  board* board_;
  const milliseconds longest_pause_;
  const std::int64_t pid_;
};

}  // namespace holdfast::directory
