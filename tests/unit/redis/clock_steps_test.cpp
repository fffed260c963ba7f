#include "redis/transport/clock_steps.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

/// Times since the start: sent and received by our clock, and what the server's clock showed.
clock_reading step_sample(std::chrono::milliseconds sent, std::chrono::milliseconds received,
                          std::chrono::milliseconds server) {
  const runtime::instant beginning{1h};
  return {beginning + sent, beginning + received, 1'000'000h + server};
}

TEST(clock_steps, are_absent_while_the_clocks_agree) {
  clock_steps watch;
  EXPECT_FALSE(watch.add(step_sample(0ms, 10ms, 5ms)));
  EXPECT_FALSE(watch.add(step_sample(500ms, 510ms, 500ms)));
  EXPECT_FALSE(watch.add(step_sample(600ms, 5'000ms, 4'900ms))) << "it was the answer that took long";
  EXPECT_FALSE(watch.add(step_sample(1'000'000ms, 1'000'010ms, 1'009'000ms))) << "within a hundredth";
}

TEST(clock_steps, are_reported_once_in_either_direction) {
  clock_steps watch;
  EXPECT_FALSE(watch.add(step_sample(0ms, 10ms, 5ms)));
  const std::optional<std::string> forwards = watch.add(step_sample(500ms, 510ms, 705ms));
  ASSERT_TRUE(forwards);
  EXPECT_NE(forwards->find("it went on by 700 ms while ours went on by 510 ms"), std::string::npos) << *forwards;
  EXPECT_FALSE(watch.add(step_sample(600ms, 610ms, 805ms)));
  EXPECT_TRUE(watch.add(step_sample(1'000ms, 1'010ms, -60'000ms)));
  EXPECT_FALSE(watch.add(step_sample(2'000ms, 2'010ms, -59'000ms)));
}

TEST(clock_steps, ignore_answers_that_overtake_each_other) {
  clock_steps watch;
  EXPECT_FALSE(watch.add(step_sample(100ms, 110ms, 105ms)));
  EXPECT_FALSE(watch.add(step_sample(0ms, 200ms, 10ms)));
  EXPECT_FALSE(watch.add(step_sample(101ms, 300ms, 102ms)));
}

}  // namespace
}  // namespace holdfast::redis
