#include "redis/sentinel/named_primary.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr runtime::instant beginning{1h};
const net::url::place old_one{"old", 6379}, new_one{"new", 6379}, third{"third", 6379};

/// Whether it moved.
bool say(named_primary& p, const net::url::place& at, std::int64_t epoch, std::chrono::seconds after = 0s) {
  return p.hear({.at = at, .epoch = epoch}, beginning + after);
}

bool promote(named_primary& p, const net::url::place& at, std::int64_t epoch, std::chrono::seconds after = 0s) {
  return p.hear({.at = at, .epoch = epoch, .promoted = true}, beginning + after);
}

class named_primary_of_epoch_3 : public testing::Test {
 protected:
  named_primary_of_epoch_3() { EXPECT_FALSE(say(primary, old_one, 3)) << "the first one is no other"; }
  [[nodiscard]] const std::string& host() const { return primary.at().host; }
  named_primary primary{10s};
};

TEST(named_primary, is_nowhere_before_anything_is_said) { EXPECT_EQ(named_primary(10s).at().host, ""); }

TEST_F(named_primary_of_epoch_3, is_another_when_a_higher_epoch_has_another) {
  EXPECT_TRUE(say(primary, new_one, 4));
  EXPECT_EQ(host(), "new");
  EXPECT_FALSE(say(primary, new_one, 4));
}

TEST_F(named_primary_of_epoch_3, is_not_led_back_by_one_that_is_behind) {
  EXPECT_TRUE(say(primary, new_one, 4));
  EXPECT_FALSE(say(primary, old_one, 3));
  EXPECT_FALSE(say(primary, third, 4)) << "one spelling of an epoch is enough";
  EXPECT_EQ(host(), "new");
}

TEST_F(named_primary_of_epoch_3, is_forgotten_when_nobody_has_named_it_for_long) {
  EXPECT_FALSE(say(primary, new_one, 0, 9s));
  EXPECT_FALSE(say(primary, old_one, 3, 9s)) << "somebody stands by it";
  EXPECT_FALSE(say(primary, old_one, 2, 18s)) << "that is another change";
  EXPECT_FALSE(say(primary, new_one, 0, 18s));
  EXPECT_TRUE(say(primary, new_one, 0, 19s)) << "they count anew";
}

TEST_F(named_primary_of_epoch_3, may_be_promoted_before_anybody_names_it) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(say(primary, old_one, 3)) << "they do not know it yet";
  EXPECT_EQ(host(), "new");
  EXPECT_FALSE(say(primary, new_one, 4)) << "now they do";
  EXPECT_FALSE(primary.doubt(new_one));
  EXPECT_EQ(host(), "new");
}

TEST_F(named_primary_of_epoch_3, is_not_what_one_that_is_behind_has_promoted) {
  EXPECT_FALSE(promote(primary, new_one, 2));
  EXPECT_EQ(host(), "old");
}

TEST_F(named_primary_of_epoch_3, is_what_they_name_when_the_promoted_one_is_in_doubt) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(primary.doubt(old_one)) << "it is another that is";
  EXPECT_TRUE(primary.doubt(new_one));
  EXPECT_FALSE(primary.doubt(new_one)) << "once is enough";
  EXPECT_FALSE(say(primary, {"older", 1}, 2)) << "it is behind";
  EXPECT_TRUE(say(primary, old_one, 3));
  EXPECT_EQ(host(), "old");
}

TEST_F(named_primary_of_epoch_3, is_what_they_name_when_they_never_name_the_promoted_one) {
  EXPECT_TRUE(promote(primary, new_one, 3));
  EXPECT_FALSE(say(primary, old_one, 3, 9s));
  EXPECT_TRUE(say(primary, old_one, 3, 10s));
}

}  // namespace
}  // namespace holdfast::redis
