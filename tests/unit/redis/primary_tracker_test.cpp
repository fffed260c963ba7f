#include "redis/sentinel/primary_tracker.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr runtime::instant beginning{1h};
const net::endpoint old_one{"old", 6379}, new_one{"new", 6379}, third{"third", 6379};

/// Returns whether the primary changed.
bool say(primary_tracker& p, const net::endpoint& at, std::int64_t epoch, std::chrono::seconds after = 0s) {
  return p.update({.at = at, .epoch = epoch}, beginning + after);
}

bool promote(primary_tracker& p, const net::endpoint& at, std::int64_t epoch, std::chrono::seconds after = 0s) {
  return p.update({.at = at, .epoch = epoch, .promoted = true}, beginning + after);
}

class primary_tracker_at_epoch_3 : public testing::Test {
 protected:
  primary_tracker_at_epoch_3() { EXPECT_FALSE(say(primary, old_one, 3)) << "the first primary is no change"; }
  [[nodiscard]] const std::string& host() const { return primary.at().host; }
  primary_tracker primary{10s};
};

TEST(primary_tracker, knows_no_primary_at_first) { EXPECT_EQ(primary_tracker(10s).at().host, ""); }

TEST_F(primary_tracker_at_epoch_3, follows_a_higher_epoch) {
  EXPECT_TRUE(say(primary, new_one, 4));
  EXPECT_EQ(host(), "new");
  EXPECT_FALSE(say(primary, new_one, 4));
}

TEST_F(primary_tracker_at_epoch_3, ignores_an_outdated_sentinel) {
  EXPECT_TRUE(say(primary, new_one, 4));
  EXPECT_FALSE(say(primary, old_one, 3));
  EXPECT_FALSE(say(primary, third, 4)) << "one spelling of an epoch is enough";
  EXPECT_EQ(host(), "new");
}

TEST_F(primary_tracker_at_epoch_3, forgets_a_primary_that_is_no_longer_announced) {
  EXPECT_FALSE(say(primary, new_one, 0, 9s));
  EXPECT_FALSE(say(primary, old_one, 3, 9s)) << "a sentinel repeats it";
  EXPECT_FALSE(say(primary, old_one, 2, 18s)) << "that is another change";
  EXPECT_FALSE(say(primary, new_one, 0, 18s));
  EXPECT_TRUE(say(primary, new_one, 0, 19s)) << "they count from the beginning";
}

TEST_F(primary_tracker_at_epoch_3, accepts_a_promoted_replica_before_it_is_announced) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(say(primary, old_one, 3)) << "they do not know it yet";
  EXPECT_EQ(host(), "new");
  EXPECT_FALSE(say(primary, new_one, 4)) << "now they do";
  EXPECT_FALSE(primary.doubt(new_one));
  EXPECT_EQ(host(), "new");
}

TEST_F(primary_tracker_at_epoch_3, ignores_a_promotion_by_an_outdated_sentinel) {
  EXPECT_FALSE(promote(primary, new_one, 2));
  EXPECT_EQ(host(), "old");
}

TEST_F(primary_tracker_at_epoch_3, reverts_a_promoted_primary_that_is_unusable) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(primary.doubt(old_one)) << "another one is the primary";
  EXPECT_TRUE(primary.doubt(new_one));
  EXPECT_FALSE(primary.doubt(new_one)) << "once is enough";
  EXPECT_FALSE(say(primary, {"older", 1}, 2)) << "it is behind";
  EXPECT_TRUE(say(primary, old_one, 3));
  EXPECT_EQ(host(), "old");
}

TEST_F(primary_tracker_at_epoch_3, reverts_a_promotion_that_is_never_announced) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(say(primary, old_one, 3, 9s));
  EXPECT_TRUE(say(primary, old_one, 3, 10s));
}

}  // namespace
}  // namespace holdfast::redis
