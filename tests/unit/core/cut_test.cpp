#include "core/cut.hpp"

#include <gtest/gtest.h>

#include "support/threads.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

TEST(cut, ends_when_the_callers_limit_ends) {
  const boot_clock::time_point then{1h};
  std::stop_source callers, closing;
  EXPECT_EQ(cut(limit(then), closing.get_token()).get().at(), then);
  EXPECT_EQ(cut(limit(then, callers.get_token()), closing.get_token()).get().at(), then);
}

TEST(cut, stops_when_the_other_is_asked_to_stop) {
  std::stop_source closing;
  const cut without_token(limit(boot_clock::time_point::max()), closing.get_token());
  std::stop_source callers;
  const cut with_token(until(callers.get_token()), closing.get_token());
  EXPECT_FALSE(without_token.get().stop().stop_requested());
  EXPECT_FALSE(with_token.get().stop().stop_requested());
  closing.request_stop();
  EXPECT_TRUE(without_token.get().stop().stop_requested());
  EXPECT_TRUE(with_token.get().stop().stop_requested());
  EXPECT_FALSE(callers.stop_requested());
}

TEST(cut, stops_when_the_caller_is_asked_to_stop_and_leaves_the_other_alone) {
  std::stop_source callers, closing;
  const cut both(until(callers.get_token()), closing.get_token());
  callers.request_stop();
  EXPECT_TRUE(both.get().stop().stop_requested());
  EXPECT_FALSE(closing.stop_requested());
}

TEST(cut, is_stopped_from_the_beginning_when_one_was_asked_before) {
  std::stop_source callers, closing;
  callers.request_stop();
  EXPECT_TRUE(cut(until(callers.get_token()), closing.get_token()).get().stop().stop_requested());
}

TEST(cut, goes_while_both_are_asked_to_stop) {
  for (int round = 0; round < 200; ++round) {
    std::stop_source callers, closing;
    const test::threads all(2, [&](int who) { (who == 0 ? callers : closing).request_stop(); });
    const cut brief(until(callers.get_token()), closing.get_token());
  }
}

}  // namespace
}  // namespace holdfast::core
