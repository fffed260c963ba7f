#include "directory/writers.hpp"

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
constexpr std::int64_t byte_of_the_writer = 0;
// The numbers in the file may be wrong. Such a range of bytes is always one that a file can have.
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

/// Returns how many it has woken.
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

writers::writers(const folder& in, milliseconds longest_pause)
    : file_(in, "writers"), longest_pause_(longest_pause), pid_(::getpid()) {
  // Never shorter than it is: others have it mapped.
  if (::posix_fallocate(file_.fd(), 0, page) != 0) {
    throw storage::failure(errc::not_ready,
                           in.file("writers") + ": no room for it (the disk is full; free some space)");
  }
  void* mapped = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (mapped == MAP_FAILED) {
    throw storage::failure(errc::not_ready,
                           in.file("writers") + ": cannot be mapped: " + std::generic_category().message(errno));
  }
  board_ = static_cast<board*>(mapped);  // zeros, if it is new
}

writers::~writers() { ::munmap(board_, page); }

writers::turn::turn(writers& of, instant until) : of_(of) {
  if (!of.lock(until)) of.name_the_one();
}

void writers::name_the_one() const {
  const std::string pid = std::to_string(board_->last);
  const std::string stat = line_of("/proc/" + pid + "/stat");
  const std::size_t after_name = stat.rfind(')');
  const bool stopped = after_name != std::string::npos && stat.size() > after_name + 2 && stat[after_name + 2] == 'T';
  throw storage::failure::late(
      "process " + pid + " (" + line_of("/proc/" + pid + "/comm") +
      (stopped ? ") is stopped in the middle of a write; continue or end it" : ") is in the middle of a write"));
}

/// A locked ticket, and the place in the order that comes with it.
class writers::place_in_line {
 public:
  explicit place_in_line(writers& of) : of_(of), ticket_(of.board_->next) {
    while (!of_.file_.try_lock(byte_of(ticket_))) ++ticket_;
    for (ticket next = of_.board_->next; next <= ticket_;) {
      if (of_.board_->next.compare_exchange_weak(next, ticket_ + 1)) break;
    }
  }
  place_in_line(const place_in_line&) = delete;
  place_in_line& operator=(const place_in_line&) = delete;
  ~place_in_line() { of_.file_.unlock(byte_of(ticket_)); }

  [[nodiscard]] std::uint32_t bit() const noexcept { return bit_of(ticket_); }
  [[nodiscard]] bool is_first() const {
    const ticket first = of_.board_->served;
    if (first >= ticket_) return true;
    return !of_.file_.is_locked(byte_of(first), static_cast<std::int64_t>(std::min(ticket_ - first, most_tickets - 1)));
  }
  void served() noexcept { of_.board_->served = ticket_ + 1; }

 private:
  writers& of_;
  ticket ticket_;
};

// If others wait, a writer that comes back at once waits behind them: it would keep them out for ever.
bool writers::lock(instant until) {
  const bool ours = waiting() == 0 && file_.try_lock(byte_of_the_writer);
  if (!ours && !wait_and_lock(until)) return false;
  board_->last = pid_;
  return true;
}

// It is in line before it gives the processor away: on a busy machine it gets it back some milliseconds later.
bool writers::wait_and_lock(instant until) {
  place_in_line ours(*this);
  for (;;) {
    const std::uint32_t seen = board_->releases;
    const instant now = boot_clock::now();
    const bool over = now >= until;
    const bool first = ours.is_first();
    const bool next = first || first_is_stopped(now);
    // The last try is out of order: a caller whose limits are short might be the first never.
    if ((next || over) && file_.try_lock(byte_of_the_writer)) {
      if (next) ours.served();
      return true;
    }
    if (over) return false;
    // A writer that is killed, or that leaves the line, wakes nobody, so this is how long it can delay us.
    const auto pause = std::min<std::chrono::nanoseconds>(until - now, first ? 2ms : 20ms);
    futex_wait(board_->releases, seen, pause, ours.bit());
  }
}

bool writers::first_is_stopped(instant now) const {
  const auto free_for_long = [&] { return runtime::nanoseconds_of(now - longest_pause_) > board_->free_since; };
  // Read once more: a writer may have released it in between.
  return free_for_long() && !file_.is_locked(byte_of_the_writer) && free_for_long();
}

void writers::unlock() noexcept {
  if (waiting() != 0) board_->free_since = runtime::nanoseconds_of(boot_clock::now());
  file_.unlock(byte_of_the_writer);
  ++board_->releases;
  if (waiting() == 0) return;
  // The next ticket may belong to a writer that has left: then all others look whether they are the first.
  if (futex_wake(board_->releases, bit_of(board_->served)) == 0) futex_wake(board_->releases, ~0u);
}

}  // namespace holdfast::directory
