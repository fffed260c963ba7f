#include "directory/writers.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "store/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t page = 4096;
constexpr std::int64_t first_byte = 0;

/// True: woken, or the word had changed. False: the time is over.
bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept {
  const timespec time{static_cast<time_t>(at_most.count() / 1'000'000'000),
                      static_cast<long>(at_most.count() % 1'000'000'000)};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void futex_wake_one(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

writers::writers(const folder& in) : file_(in, "writers") {
  // Never shorter than it is: others have it mapped.
  if (::posix_fallocate(file_.fd(), 0, page) != 0) {
    throw seam::failure(errc::not_ready, in.file("writers") + ": no room for it (the disk is full; free some space)");
  }
  void* mapped = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (mapped == MAP_FAILED) {
    throw seam::failure(errc::not_ready,
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
  throw seam::failure::late(
      "process " + pid + " (" + line_of("/proc/" + pid + "/comm") +
      (stopped ? ") is stopped in the middle of a write; continue or end it" : ") is in the middle of a write"));
}

// A single writer in our way may be out of it sooner than we could sleep and be woken; but whoever spins for long takes
// the processor from those who are to write. Whoever comes while others wait stands behind them: writers who come back
// at once would keep them out for ever.
bool writers::lock(instant until) {
  bool ours = false;
  std::uint32_t seen = board_->releases;
  for (int tries = 0; tries < 4 && !ours && board_->waiting == 0; ++tries) {
    if (tries != 0) ::sched_yield();
    seen = board_->releases;
    ours = file_.try_lock(first_byte);
  }
  if (!ours && !wait_and_lock(until, seen)) return false;
  board_->last = ::getpid();
  return true;
}

bool writers::wait_and_lock(instant until, std::uint32_t seen) {
  ++board_->waiting;
  bool ours = false;
  for (bool in_time = true; in_time && !ours;) {
    const instant now = boot_clock::now();
    in_time = now < until;
    // A writer that is killed wakes nobody, so this is how long it can delay us.
    const bool woken =
        !in_time || futex_wait(board_->releases, seen, std::min<std::chrono::nanoseconds>(until - now, 2ms));
    seen = board_->releases;
    ours = file_.try_lock(first_byte);
    if (ours && !woken) board_->waiting = 1;  // it was free, and nobody woke us: those who were counted are gone
  }
  for (std::uint32_t n = board_->waiting; n != 0 && !board_->waiting.compare_exchange_weak(n, n - 1);) {
  }
  return ours;
}

void writers::unlock() noexcept {
  file_.unlock(first_byte);
  ++board_->releases;
  if (board_->waiting != 0) futex_wake_one(board_->releases);
}

}  // namespace holdfast::directory
