#include "runtime/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "runtime/guarded.hpp"
#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

TEST(random, never_repeats_a_number_on_any_thread) {
  guarded<std::set<std::uint64_t>> seen;
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 1'000; ++k) seen.with([](auto& all_seen) { all_seen.insert(random_bits()); });
    });
  }
  EXPECT_EQ(seen.with([](const auto& all_seen) { return all_seen.size(); }), 4'000u);
}

TEST(random, uses_all_bits) {
  std::uint64_t ones = 0, zeros = 0;
  for (int k = 0; k < 200; ++k) {
    const std::uint64_t n = random_bits();
    ones |= n;
    zeros |= ~n;
  }
  EXPECT_EQ(std::popcount(ones), 64);
  EXPECT_EQ(std::popcount(zeros), 64);
}

}  // namespace
}  // namespace holdfast::runtime
