#include "holdfast/limit.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using time_point = boot_clock::time_point;

TEST(limit, ends_after_the_given_duration) {
  const time_point before = boot_clock::now();
  const limit l = within(2s);
  const time_point after = boot_clock::now();
  EXPECT_GE(l.at(), before + 2s);
  EXPECT_LE(l.at(), after + 2s);
  EXPECT_FALSE(l.stop().stop_possible());
}

TEST(limit, ends_now_when_zero_or_negative) {
  const auto is_now = [](const limit& l) { return l.at() > time_point() && l.at() <= boot_clock::now(); };
  for (const auto wait : {0ns, -1ns, std::chrono::nanoseconds::min()}) EXPECT_TRUE(is_now(within(wait)));
  EXPECT_TRUE(is_now(within(std::chrono::hours::min())));
  EXPECT_TRUE(is_now(within(std::chrono::duration<double>(-1e300))));
}

TEST(limit, never_ends_when_beyond_the_range_of_the_clock) {
  EXPECT_EQ(within(std::chrono::nanoseconds::max()).at(), time_point::max());
  EXPECT_EQ(within(std::chrono::milliseconds::max()).at(), time_point::max());
  EXPECT_EQ(within(std::chrono::hours::max()).at(), time_point::max());
  EXPECT_EQ(within(std::chrono::duration<double>(std::numeric_limits<double>::infinity())).at(), time_point::max());
  EXPECT_EQ(within(std::chrono::duration<double>(1e300)).at(), time_point::max());
}

TEST(limit, never_rounds_down) {
  const time_point before = boot_clock::now();
  EXPECT_GE(within(std::chrono::duration<double, std::nano>(0.5)).at(), before + 1ns);
}

TEST(limit, carries_a_stop_token) {
  std::stop_source stop;
  EXPECT_EQ(within(2s, stop.get_token()).stop(), stop.get_token());
  EXPECT_EQ(within(std::chrono::hours::max(), stop.get_token()).stop(), stop.get_token());
  EXPECT_EQ(within(0s, stop.get_token()).stop(), stop.get_token());
  EXPECT_EQ(until(stop.get_token()).stop(), stop.get_token());
  EXPECT_EQ(until(stop.get_token()).at(), time_point::max());
}

TEST(limit, has_no_default) { static_assert(!std::is_default_constructible_v<limit>); }

/// A wall clock that is set back.
struct adjusted_clock {
  using duration = std::chrono::seconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<adjusted_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() { return time_point(shows); }
  static inline duration shows{100};
};

TEST(retry_until, returns_false_only_when_the_callers_clock_is_due) {
  int tries = 0;
  adjusted_clock::shows = 100s;
  const bool got_it = detail::retry_until(adjusted_clock::time_point(110s), [&](const limit&) {
    adjusted_clock::shows += 5s;  // only half of the 10 s, as if the clock had been set back during the wait
    ++tries;
    return false;
  });
  EXPECT_FALSE(got_it);
  EXPECT_EQ(tries, 2);
}

TEST(retry_until, tries_once_when_the_time_has_passed) {
  int tries = 0;
  adjusted_clock::shows = 100s;
  EXPECT_FALSE(detail::retry_until(adjusted_clock::time_point(50s), [&](const limit& l) {
    const time_point now = boot_clock::now();
    EXPECT_LE(l.at(), now);
    ++tries;
    return false;
  }));
  EXPECT_EQ(tries, 1);
  EXPECT_TRUE(detail::retry_until(adjusted_clock::time_point(50s), [](const limit&) { return true; }));
}

TEST(retry_until, accepts_the_minimum_time_as_the_past) {
  const auto looks_once = [](const limit& l) {
    const time_point now = boot_clock::now();
    EXPECT_LE(l.at(), now);
    return true;
  };
  EXPECT_TRUE(detail::retry_until(std::chrono::system_clock::time_point::min(), looks_once));
  EXPECT_TRUE(detail::retry_until(std::chrono::steady_clock::time_point::min(), looks_once));
}

TEST(retry_until, accepts_the_maximum_time_as_a_long_wait) {
  const auto take_limit = [](const limit& l) { return l.at() > boot_clock::now() + 24h * 365 * 100; };
  EXPECT_TRUE(detail::retry_until(std::chrono::system_clock::time_point::max(), take_limit));
  EXPECT_TRUE(detail::retry_until(std::chrono::steady_clock::time_point::max(), take_limit));
}

}  // namespace
}  // namespace holdfast
