#include <gtest/gtest.h>

#include "redis/doctor/health_facts.hpp"
#include "redis/doctor/health_rules.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using severity = finding::severity;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::is;

constexpr microseconds year_2020 = 1'577'836'800s;

/// A comparison that begins `after` the first one, while the server's clock is `apart` from ours.
clock_comparison watch_sample(milliseconds after, milliseconds round_trip, microseconds apart) {
  const runtime::instant sent(1h + after);
  const microseconds wall = year_2020 + after;
  return {{sent, sent + round_trip, wall + round_trip / 2 + apart}, wall};
}

std::vector<finding> judged_watch(std::initializer_list<clock_comparison> all) {
  storage::findings found;
  judge(facts_about_clock(all), found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

TEST(health_clock, reports_ok_if_clocks_agree) {
  const std::vector<finding> all =
      judged_watch({watch_sample(0ms, 2ms, 100us), watch_sample(250ms, 1ms, 100us), watch_sample(1000ms, 4ms, 150us)});
  EXPECT_TRUE(is(all, "redis.clock", severity::fine));
  EXPECT_TRUE(is(all, "redis.clock_rate", severity::fine));
}

TEST(health_clock, reports_offset_and_direction) {
  const std::vector<finding> behind = judged_watch({watch_sample(0ms, 2ms, -5s)});
  EXPECT_TRUE(is(behind, "redis.clock", severity::note));
  EXPECT_NE(behind[0].what.find("5000 ms (give or take 2 ms) behind ours"), std::string::npos) << behind[0].what;
  const std::vector<finding> ahead = judged_watch({watch_sample(0ms, 2ms, 1h)});
  EXPECT_TRUE(is(ahead, "redis.clock", severity::warning));
  EXPECT_NE(ahead[0].what.find("ahead of"), std::string::npos);
}

TEST(health_clock, does_not_blame_the_clock_for_a_slow_reply) {
  EXPECT_TRUE(is(judged_watch({watch_sample(0ms, 4'000ms, 1'500ms)}), "redis.clock", severity::fine));
  EXPECT_TRUE(is(judged_watch({watch_sample(0ms, 900ms, 0ms), watch_sample(1000ms, 1ms, 400ms)}), "redis.clock_rate",
                 severity::fine));
}

TEST(health_clock, uses_the_reading_with_the_shortest_round_trip) {
  EXPECT_TRUE(is(judged_watch({watch_sample(0ms, 10'000ms, 4s), watch_sample(10'000ms, 2ms, 3s)}), "redis.clock",
                 severity::note));
}

TEST(health_clock, detects_a_clock_step) {
  for (const milliseconds step : {-200ms, 200ms, -3'600'000ms, 3'600'000ms}) {
    EXPECT_TRUE(
        is(judged_watch({watch_sample(0ms, 1ms, 0ms), watch_sample(250ms, 1ms, step), watch_sample(500ms, 1ms, step)}),
           "redis.clock_rate", severity::danger))
        << step.count();
  }
}

TEST(health_clock, detects_a_clock_that_runs_at_another_rate) {
  EXPECT_TRUE(
      is(judged_watch({watch_sample(0ms, 1ms, 0ms), watch_sample(500ms, 1ms, 5ms), watch_sample(1000ms, 1ms, 20ms)}),
         "redis.clock_rate", severity::danger));
  EXPECT_TRUE(is(judged_watch({watch_sample(0ms, 1ms, 0ms), watch_sample(1000ms, 1ms, 1ms)}), "redis.clock_rate",
                 severity::fine));
}

TEST(health_clock, reports_nothing_without_readings) { EXPECT_TRUE(judged_watch({}).empty()); }

}  // namespace
}  // namespace holdfast::redis
