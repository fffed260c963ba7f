#include "core/linked_limit.hpp"

#include <gtest/gtest.h>

#include "support/threads.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

TEST(linked_limit, ends_when_the_callers_limit_ends) {
  const boot_clock::time_point then{1h};
  std::stop_source callers, closing;
  EXPECT_EQ(linked_limit(limit(then), closing.get_token()).get().at(), then);
  EXPECT_EQ(linked_limit(limit(then, callers.get_token()), closing.get_token()).get().at(), then);
}

TEST(linked_limit, stops_when_the_linked_token_is_triggered) {
  std::stop_source closing;
  const linked_limit without_token(limit(boot_clock::time_point::max()), closing.get_token());
  std::stop_source callers;
  const linked_limit with_token(until(callers.get_token()), closing.get_token());
  EXPECT_FALSE(without_token.get().stop().stop_requested());
  EXPECT_FALSE(with_token.get().stop().stop_requested());
  closing.request_stop();
  EXPECT_TRUE(without_token.get().stop().stop_requested());
  EXPECT_TRUE(with_token.get().stop().stop_requested());
  EXPECT_FALSE(callers.stop_requested());
}

TEST(linked_limit, stops_with_the_caller_and_leaves_the_linked_source_alone) {
  std::stop_source callers, closing;
  const linked_limit both(until(callers.get_token()), closing.get_token());
  callers.request_stop();
  EXPECT_TRUE(both.get().stop().stop_requested());
  EXPECT_FALSE(closing.stop_requested());
}

TEST(linked_limit, is_stopped_when_a_token_was_triggered_before) {
  std::stop_source callers, closing;
  callers.request_stop();
  EXPECT_TRUE(linked_limit(until(callers.get_token()), closing.get_token()).get().stop().stop_requested());
}

TEST(linked_limit, can_be_destroyed_while_both_tokens_are_triggered) {
  for (int round = 0; round < 200; ++round) {
    std::stop_source callers, closing;
    const test::threads all(2, [&](int who) { (who == 0 ? callers : closing).request_stop(); });
    const linked_limit brief(until(callers.get_token()), closing.get_token());
  }
}

}  // namespace
}  // namespace holdfast::core
