#include "directory/writer_lock.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fstream>
#include <string>
#include <system_error>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t page = 4096;
constexpr std::int64_t writer_byte = 0;
// The numbers in the file may be wrong. Below this bound every range of bytes is valid in a file.
constexpr std::uint64_t most_tickets = 1ull << 62;

std::int64_t byte_of(std::uint64_t ticket) noexcept { return static_cast<std::int64_t>(ticket % most_tickets) + 1; }

std::uint32_t bit_of(std::uint64_t ticket) noexcept { return 1u << (ticket % 32); }

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds at_most,
                std::uint32_t bit) noexcept {
  const auto until = std::chrono::steady_clock::now().time_since_epoch() + at_most;  // the kernel's clock for this
  const auto seconds = std::chrono::floor<std::chrono::seconds>(until);
  const timespec time{seconds.count(), (until - seconds).count()};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, &time, nullptr, bit);
}

/// Returns the number of threads that it has woken.
long futex_wake(std::atomic<std::uint32_t>& word, std::uint32_t bits) noexcept {
  return ::syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, INT_MAX, nullptr, nullptr, bits);
}

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

writer_lock::writer_lock(const folder& in, milliseconds longest_pause)
    : file_(in, "writers"), longest_pause_(longest_pause), pid_(::getpid()) {
  // The file must not shrink: others have it mapped.
  if (::posix_fallocate(file_.fd(), 0, page) != 0) {
    throw storage::failure(errc::not_ready,
                           in.file("writers") + ": cannot be allocated (the disk is full; free some space)");
  }
  void* mapped = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (mapped == MAP_FAILED) {
    throw storage::failure(errc::not_ready,
                           in.file("writers") + ": cannot be mapped: " + std::generic_category().message(errno));
  }
  board_ = static_cast<board*>(mapped);  // zeros in a new file
}

writer_lock::~writer_lock() { ::munmap(board_, page); }

writer_lock::turn::turn(writer_lock& of, instant until) : lock_(of) {
  if (!of.lock(until)) of.fail_as_late();
}

void writer_lock::fail_as_late() const {
  const std::string pid = std::to_string(board_->last);
  const std::string stat = line_of("/proc/" + pid + "/stat");
  const std::size_t after_name = stat.rfind(')');
  const bool stopped = after_name != std::string::npos && stat.size() > after_name + 2 && stat[after_name + 2] == 'T';
  throw storage::failure::late(
      "process " + pid + " (" + line_of("/proc/" + pid + "/comm") +
      (stopped ? ") is stopped in the middle of a write; continue or end it" : ") is in the middle of a write"));
}

/// A locked ticket of a waiting writer.
class writer_lock::queued_ticket {
 public:
  explicit queued_ticket(writer_lock& of) : of_(of), ticket_(of.board_->next) {
    while (!of_.file_.try_lock(byte_of(ticket_))) ++ticket_;
    for (ticket next = of_.board_->next; next <= ticket_;) {
      if (of_.board_->next.compare_exchange_weak(next, ticket_ + 1)) break;
    }
  }
  queued_ticket(const queued_ticket&) = delete;
  queued_ticket& operator=(const queued_ticket&) = delete;
  ~queued_ticket() { of_.file_.unlock(byte_of(ticket_)); }

  [[nodiscard]] std::uint32_t bit() const noexcept { return bit_of(ticket_); }
  [[nodiscard]] bool is_first() const {
    const ticket first = of_.board_->served;
    if (first >= ticket_) return true;
    return !of_.file_.is_locked(byte_of(first), static_cast<std::int64_t>(std::min(ticket_ - first, most_tickets - 1)));
  }
  void served() noexcept { of_.board_->served = ticket_ + 1; }

 private:
  writer_lock& of_;
  ticket ticket_;
};

// A writer that comes back at once queues behind the waiters. Otherwise it could keep them out forever.
bool writer_lock::lock(instant until) {
  const bool locked = waiting() == 0 && file_.try_lock(writer_byte);
  if (!locked && !wait_and_lock(until)) return false;
  board_->last = pid_;
  return true;
}

// Takes a ticket before it sleeps or yields: on a busy machine it may run again only some milliseconds later.
bool writer_lock::wait_and_lock(instant until) {
  queued_ticket mine(*this);
  for (;;) {
    const std::uint32_t seen = board_->releases;
    const instant now = boot_clock::now();
    const bool late = now >= until;
    const bool first = mine.is_first();
    const bool next = first || first_is_stopped(now);
    // The last try ignores the order: a caller with short limits might never become the first.
    if ((next || late) && file_.try_lock(writer_byte)) {
      if (next) mine.served();
      return true;
    }
    if (late) return false;
    // A writer that is killed or gives up wakes no waiter. This bounds the delay that it causes.
    const auto pause = std::min<std::chrono::nanoseconds>(until - now, first ? 2ms : 20ms);
    futex_wait(board_->releases, seen, pause, mine.bit());
  }
}

bool writer_lock::first_is_stopped(instant now) const {
  const auto free_for_long = [&] { return runtime::nanoseconds_of(now - longest_pause_) > board_->free_since; };
  // Checked again, because a writer may have released the lock in between.
  return free_for_long() && !file_.is_locked(writer_byte) && free_for_long();
}

void writer_lock::unlock() noexcept {
  if (waiting() != 0) board_->free_since = runtime::nanoseconds_of(boot_clock::now());
  file_.unlock(writer_byte);
  ++board_->releases;
  if (waiting() == 0) return;
  // The next ticket may belong to a writer that has left. Then all waiters check whether they are the first.
  if (futex_wake(board_->releases, bit_of(board_->served)) == 0) futex_wake(board_->releases, ~0u);
}

}  // namespace holdfast::directory
