#include "core/pauses.hpp"

#include <gtest/gtest.h>

#include "support/manual_tasks.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using runtime::wake;

struct pauses_test : testing::Test {
  test::manual_tasks tasks;
  pauses all;
};

TEST_F(pauses_test, last_for_their_limit) {
  const auto began = tasks.io.now();
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, all.cuts(), tasks.in(1s))), wake::late);
  EXPECT_EQ(tasks.io.now(), began + 1s);
}

TEST_F(pauses_test, are_cut_short_all_at_once) {
  runtime::task_group running(tasks.io);
  std::future<wake> one = test::start(running, all.pause(tasks.io, all.cuts(), tasks.in(1s)));
  std::future<wake> other = test::start(running, all.pause(tasks.io, all.cuts(), tasks.in(2s)));
  tasks.io.run();
  all.cut_short();
  tasks.io.run();
  EXPECT_EQ(one.get(), wake::signalled);
  EXPECT_EQ(other.get(), wake::signalled);
}

TEST_F(pauses_test, do_not_begin_when_they_were_cut_short_since) {
  const std::uint64_t seen = all.cuts();
  all.cut_short();
  const auto began = tasks.io.now();
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, seen, tasks.in(1s))), wake::signalled);
  EXPECT_EQ(tasks.io.now(), began);
  EXPECT_EQ(tasks.end_of(all.pause(tasks.io, all.cuts(), tasks.in(1s))), wake::late) << "the next one does";
}

}  // namespace
}  // namespace holdfast::core
