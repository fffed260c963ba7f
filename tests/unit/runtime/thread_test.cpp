#include "runtime/thread.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <string>

namespace holdfast::runtime {
namespace {

TEST(thread, blocks_all_signals_without_changing_its_parents_mask) {
  sigset_t mine, before, after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::thread started = start_thread("holdfast-test", [&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &mine); });
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  started.join();
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1}) {
    EXPECT_EQ(::sigismember(&mine, s), 1) << s;
    EXPECT_EQ(::sigismember(&after, s), ::sigismember(&before, s)) << s;
  }
}

TEST(thread, has_the_name_it_was_given) {
  std::atomic<bool> seen = false;
  std::thread started = start_thread("holdfast-test", [&] { seen.wait(false); });
  char name[32] = {};
  ::pthread_getname_np(started.native_handle(), name, sizeof name);
  seen = true;
  seen.notify_one();
  started.join();
  EXPECT_EQ(std::string(name), "holdfast-test");
}

}  // namespace
}  // namespace holdfast::runtime
