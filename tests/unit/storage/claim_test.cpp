#include "storage/claim.hpp"

#include <gtest/gtest.h>

namespace holdfast::storage {
namespace {

using namespace std::chrono_literals;

TEST(deadline, is_a_hundredth_of_the_ttl_and_two_milliseconds_early) {
  const instant sent{1h};
  EXPECT_EQ(deadline_after(sent, 10s), sent + 10s - 102ms);
  EXPECT_EQ(deadline_after(sent, 1s), sent + 1s - 12ms);
  EXPECT_EQ(deadline_after(sent, 10ms), sent + 10ms - 2'100us);
  EXPECT_EQ(deadline_after(sent, 24h), sent + 24h - 864s - 2ms);
}

TEST(owner_id, is_equal_only_in_both_halves) {
  EXPECT_EQ((owner_id{1, 2}), (owner_id{1, 2}));
  EXPECT_NE((owner_id{1, 2}), (owner_id{1, 3}));
  EXPECT_NE((owner_id{1, 2}), (owner_id{3, 2}));
}

}  // namespace
}  // namespace holdfast::storage
