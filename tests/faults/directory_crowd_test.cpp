// A thousand processes wait for one lock, and half of them are killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

#include "faults/directory_store.hpp"
#include "support/bounds.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;

/// Writes a byte to a pipe when the client waits.
class wait_reporter final : public observer {
 public:
  explicit wait_reporter(int to) : to_(to) {}
  void on(const event& e) noexcept override {
    const char waiting = '!';
    if (e.what == event::kind::waiting) [[maybe_unused]]
      const ssize_t told = ::write(to_, &waiting, 1);
  }

 private:
  const int to_;
};

constexpr int many = 1000;
constexpr int bound = 300;  // seconds: starting a thousand processes is slow

int wait_in_line(const directory_store& d, int number, int waiting, int served) {
  ::alarm(bound);
  try {
    store s = d.open({.patience = 60s, .observe = std::make_shared<wait_reporter>(waiting)});
    const lease held = s.acquire("a");
    return ::write(served, &number, sizeof number) == sizeof number && held.held() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "process %d: %s\n", number, e.what());
    return 1;
  }
}

TEST(directory_crowd, of_a_thousand_is_served_in_order_when_half_is_killed) {
  const directory_store d;
  int waiting[2], served[2];
  ASSERT_EQ(::pipe(waiting), 0);
  ASSERT_EQ(::pipe(served), 0);
  ::fcntl(served[1], F_SETPIPE_SZ, 1 << 16);
  std::vector<pid_t> crowd;
  {
    std::optional<store> s = d.open();
    (void)s->acquire("a");  // creates the tables
  }
  // The holder is a process of its own, so that this one has no threads and can fork.
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    ::close(go[1]);
    store s = d.open();
    const lease held = s.acquire("a");
    const char ready = '!';
    char end = 0;
    if (::write(waiting[1], &ready, 1) != 1) ::_exit(1);
    ::_exit(::read(go[0], &end, 1) == 0 ? 0 : 1);
  }
  ::close(go[0]);
  char word = 0;
  ASSERT_EQ(::read(waiting[0], &word, 1), 1);
  for (int n = 0; n < many; ++n) {  // one after the other, so that the order is known
    crowd.push_back(::fork());
    ASSERT_GE(crowd.back(), 0);
    if (crowd.back() == 0) {
      ::close(go[1]);
      ::_exit(wait_in_line(d, n, waiting[1], served[1]));
    }
    ASSERT_EQ(::read(waiting[0], &word, 1), 1);
  }
  for (int n = 0; n < many; n += 2) ::kill(crowd[static_cast<std::size_t>(n)], SIGKILL);
  ::close(go[1]);  // ends the holder
  std::vector<int> order;
  for (int n = 1; n < many; n += 2) {
    int number = -1;
    ASSERT_EQ(::read(served[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    order.push_back(number);
  }
  std::vector<int> expected;
  for (int n = 1; n < many; n += 2) expected.push_back(n);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(::waitpid(holder, nullptr, 0), holder);
  for (int n = 0; n < many; ++n) {
    int status = 0;
    ::waitpid(crowd[static_cast<std::size_t>(n)], &status, 0);
    EXPECT_TRUE(n % 2 == 0 ? WIFSIGNALED(status) : status == 0) << n;
  }
  EXPECT_TRUE(d.open().try_acquire("a")) << "a process ended without releasing the lock";
}

}  // namespace
}  // namespace holdfast::faults
