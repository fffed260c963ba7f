#include "bench/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

histogram of(std::initializer_list<nanoseconds> all) {
  histogram h;
  for (const nanoseconds each : all) h.add(each);
  return h;
}

TEST(histogram, is_zero_when_empty) {
  const histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.min(), 0ns);
  EXPECT_EQ(h.max(), 0ns);
  EXPECT_EQ(h.at_share(0.5), 0ns);
  EXPECT_TRUE(h.rows().empty());
}

TEST(histogram, has_its_only_value_at_every_quantile) {
  for (const nanoseconds t : {0ns, 1ns, 31ns, 32ns, 999ns, 1'000ns, 1'001ns, 31'415'926ns}) {
    const histogram h = of({t});
    EXPECT_EQ(h.min(), t);
    EXPECT_EQ(h.max(), t);
    for (const double share : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(h.at_share(share), t) << t.count();
  }
}

TEST(histogram, counts_negative_as_zero_and_accepts_any_duration) {
  const histogram h = of({-5ns, nanoseconds::max()});
  EXPECT_EQ(h.min(), 0ns);
  EXPECT_EQ(h.max(), nanoseconds::max());
  EXPECT_EQ(h.count(), 2u);
  EXPECT_EQ(h.at_share(1), nanoseconds::max());
}

TEST(histogram, quantiles_are_rounded_up_by_at_most_a_32nd) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(11, 3);  // from nanoseconds to a minute
  std::vector<nanoseconds> all;
  histogram h;
  for (int n = 0; n < 20'000; ++n) {
    all.emplace_back(static_cast<std::int64_t>(times(random)));
    h.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const nanoseconds exact = all[static_cast<std::size_t>(share * static_cast<double>(all.size())) - 1];
    EXPECT_GE(h.at_share(share), exact) << share;
    EXPECT_LE(h.at_share(share), exact + exact / 31 + 32ns) << share;
  }
  EXPECT_EQ(h.at_share(1), all.back());
  EXPECT_EQ(h.min(), all.front());
}

TEST(histogram, merge_equals_adding_all_values_to_one) {
  histogram both = of({5us, 7us}), nothing;
  both.add(of({1us, 100us}));
  both.add(nothing);
  nothing.add(both);
  for (const histogram& h : {both, nothing}) {
    EXPECT_EQ(h.count(), 4u);
    EXPECT_EQ(h.min(), 1us);
    EXPECT_EQ(h.max(), 100us);
    EXPECT_EQ(h.rows().size(), of({1us, 5us, 7us, 100us}).rows().size());
  }
}

TEST(histogram, has_a_row_for_each_doubling_from_the_first_to_the_last) {
  const auto rows = of({1'000ns, 1'001ns, 2'000ns, 7us}).rows();
  ASSERT_EQ(rows.size(), 4u);
  const nanoseconds ends[] = {1us, 2us, 4us, 8us};
  const std::uint64_t counts[] = {1, 2, 0, 1};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    EXPECT_EQ(rows[n].up_to, ends[n]);
    EXPECT_EQ(rows[n].count, counts[n]);
  }
}

}  // namespace
}  // namespace holdfast::cli
