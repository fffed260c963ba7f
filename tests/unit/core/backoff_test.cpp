#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include "support/manual_tasks.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using runtime::wake;

struct backoff_test : testing::Test {
  test::manual_tasks tasks;
  backoff all;
};

TEST_F(backoff_test, pauses_until_the_limit) {
  const auto began = tasks.io.now();
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, all.cuts(), tasks.in(1s))), wake::late);
  EXPECT_EQ(tasks.io.now(), began + 1s);
}

TEST_F(backoff_test, ends_all_pauses_at_once) {
  runtime::task_group running(tasks.io);
  std::future<wake> one = test::start(running, all.pause(tasks.io, all.cuts(), tasks.in(1s)));
  std::future<wake> other = test::start(running, all.pause(tasks.io, all.cuts(), tasks.in(2s)));
  tasks.io.run();
  all.end_pauses();
  tasks.io.run();
  EXPECT_EQ(one.get(), wake::signalled);
  EXPECT_EQ(other.get(), wake::signalled);
}

TEST_F(backoff_test, begins_no_pause_that_was_ended_meanwhile) {
  const std::uint64_t seen = all.cuts();
  all.end_pauses();
  const auto began = tasks.io.now();
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, seen, tasks.in(1s))), wake::signalled);
  EXPECT_EQ(tasks.io.now(), began);
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, all.cuts(), tasks.in(1s))), wake::late) << "the next one does";
}

}  // namespace
}  // namespace holdfast::core
