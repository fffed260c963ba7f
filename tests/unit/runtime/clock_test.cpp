#include "runtime/clock.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <vector>

namespace {
thread_local std::vector<clockid_t>* clocks_read = nullptr;
}

// Replaces the function of the C library in this program: on a machine that was never suspended all clocks show the
// same time, so only the call shows which one is used.
extern "C" int clock_gettime(clockid_t clock, timespec* at) noexcept {
  if (clocks_read != nullptr) clocks_read->push_back(clock);
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, at));
}

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

TEST(boot_clock, counts_the_time_while_the_machine_is_suspended) {
  std::vector<clockid_t> read;
  clocks_read = &read;
  const instant now = boot_clock::now();
  clocks_read = nullptr;
  EXPECT_EQ(read, std::vector<clockid_t>{CLOCK_BOOTTIME});
  EXPECT_GT(now, instant());
}

TEST(boot_clock, never_goes_back) {
  instant last = boot_clock::now();
  for (int k = 0; k < 1'000; ++k) {
    const instant now = boot_clock::now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(later, adds_and_saturates) {
  const instant now(1h);
  EXPECT_EQ(later(now, 1s), now + 1s);
  EXPECT_EQ(later(now, span::max()), never);
  EXPECT_EQ(later(now, never - now), never);
  EXPECT_EQ(later(never, 0s), never);
}

}  // namespace
}  // namespace holdfast::runtime
