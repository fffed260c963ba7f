#include "storage/answer.hpp"

#include <gtest/gtest.h>

namespace holdfast::storage {
namespace {

TEST(answer, is_one_of_three) {
  answer<int> yes = answer<int>::yes(7);
  const answer<int> no = answer<int>::no({"somebody"});
  answer<int> unknown = answer<int>::unknown(failure(errc::unreachable, "silence"));
  EXPECT_TRUE(yes.is_yes() && !yes.is_no() && !yes.is_unknown());
  EXPECT_TRUE(!no.is_yes() && no.is_no() && !no.is_unknown());
  EXPECT_TRUE(!unknown.is_yes() && !unknown.is_no() && unknown.is_unknown());
  EXPECT_EQ(yes.value(), 7);
  EXPECT_EQ(no.who().holder, "somebody");
  EXPECT_EQ(unknown.why().code, errc::unreachable);
  EXPECT_EQ(unknown.why().text, "silence");
}

TEST(failure, is_caught_as_a_standard_exception) {
  try {
    throw failure(errc::denied, "no");
  } catch (const std::exception& e) {
    EXPECT_STREQ(e.what(), "no");
  }
}

TEST(failure, is_permanent_unless_asking_again_can_help) {
  EXPECT_FALSE(failure(errc::unreachable, "").permanent());
  EXPECT_FALSE(failure(errc::not_ready, "").permanent());
  EXPECT_TRUE(failure(errc::denied, "").permanent());
  EXPECT_TRUE(failure(errc::foreign, "").permanent());
  EXPECT_TRUE(failure(errc::unsupported, "").permanent());
}

}  // namespace
}  // namespace holdfast::storage
