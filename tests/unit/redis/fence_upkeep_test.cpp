#include "redis/lock/fence_upkeep.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(fence_upkeep, keeps_the_fence_alive_beyond_the_lease) {
  for (const std::chrono::milliseconds ttl : {10'000ms, 3'600'000ms, 43'200'000ms, 43'200'001ms, 86'400'000ms}) {
    fence_upkeep upkeep;
    runtime::instant now(5h), fence_ends = now + 24h;
    for (int renewals = 0; now < runtime::instant(5h) + 96h; ++renewals) {
      now += ttl / 3;
      ASSERT_LT(now, fence_ends) << ttl.count();
      if (upkeep.is_due(now, ttl)) fence_ends = now + 24h;
      ASSERT_LE(now + ttl, fence_ends) << ttl.count() << " ms, renewal " << renewals;
    }
  }
}

TEST(fence_upkeep, is_due_four_times_a_day) {
  fence_upkeep upkeep;
  int times = 0;
  for (runtime::instant now(1h); now < runtime::instant(97h); now += 10s) times += upkeep.is_due(now, 30s) ? 1 : 0;
  EXPECT_EQ(times, 15);
}

}  // namespace
}  // namespace holdfast::redis
