// The wall clock is set back and ahead: fences keep growing, and no lease or check depends on it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "faults/directory_store.hpp"

namespace {
std::atomic<long> wall_offset{0};  // seconds
}

// Replaces the function of the C library in this program.
extern "C" int clock_gettime(clockid_t which, timespec* at) {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, which, at));
  if (which == CLOCK_REALTIME) at->tv_sec += wall_offset;
  return result;
}

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;

TEST(directory_clock, that_is_set_back_does_not_decrease_fences) {
  const directory_store d;
  store s = d.open();
  std::uint64_t last = 0;
  for (const long offset : {0L, 3600L, -3600L, -365L * 86400, 0L}) {
    wall_offset = offset;
    for (int k = 0; k < 3; ++k) {
      const lease held = s.acquire("a");
      EXPECT_GT(held.fence(), last) << "set by " << offset << " s";
      last = held.fence();
      EXPECT_TRUE(held.held());
    }
  }
}

TEST(directory_clock, that_is_set_back_does_not_decrease_fences_after_a_restart) {
  const directory_store d;
  wall_offset = 0;
  std::uint64_t last = 0;
  {
    last = d.open().acquire("a").fence();
  }
  wall_offset = -365L * 86400;
  EXPECT_GT(d.open().acquire("a").fence(), last);
  wall_offset = 0;
}

TEST(directory_clock, does_not_end_a_fixed_lease_when_it_is_set_ahead) {
  const directory_store d;
  store first = d.open(), second = d.open();
  wall_offset = 0;
  const lease fixed = first.acquire("a", {.ttl = 1h, .renew = false});
  wall_offset = 86400;
  EXPECT_TRUE(fixed.held());
  EXPECT_FALSE(second.try_acquire("a"));
  wall_offset = 0;
}

/// Waits until the kernel's clock for files has ticked.
void wait_for_a_tick(const std::string& changed, const std::string& to_change) {
  struct stat before{}, after{};
  do {
    std::ofstream(to_change) << "x";
    ASSERT_EQ(::stat(changed.c_str(), &before), 0);
    ASSERT_EQ(::stat(to_change.c_str(), &after), 0);
  } while (after.st_mtim.tv_sec == before.st_ctim.tv_sec && after.st_mtim.tv_nsec == before.st_ctim.tv_nsec);
}

// The files are checked after a change of the directory, and for some seconds after that.
TEST(directory_clock, that_is_ahead_does_not_hide_a_deleted_file) {
  const directory_store d;
  store s = d.open();
  wall_offset = 3600;
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(s.try_acquire("a"));
  wait_for_a_tick(d.path(), d.path() + ".other");
  std::filesystem::remove(d.file("sessions"));
  EXPECT_EQ(failure_of([&] { (void)s.acquire("a"); }).first, errc::foreign);
  wall_offset = 0;
}

}  // namespace
}  // namespace holdfast::faults
