#include "storage/break_request.hpp"

#include <gtest/gtest.h>

#include "storage/self.hpp"

namespace holdfast::storage {
namespace {

constexpr owner_id me{1, 2}, other_owner{1, 3};

break_request with(std::uint64_t fence, std::optional<owner_id> owner = {}) {
  return {.name = "a", .fence = fence, .owner = owner};
}

TEST(break_request, applies_to_the_holder_of_a_fence_in_the_block) {
  for (const std::uint64_t fence : {100u, 101u, 163u}) EXPECT_TRUE(with(fence).is_about(me, share(), 100, 64)) << fence;
  for (const std::uint64_t fence : {99u, 164u}) EXPECT_FALSE(with(fence).is_about(me, share(), 100, 64)) << fence;
  EXPECT_FALSE(with(~std::uint64_t{0}).is_about(me, share(), 100, 64));
}

TEST(break_request, applies_to_all_readers_with_the_fence_or_to_one) {
  EXPECT_TRUE(with(100).is_about(me, share::reader(), 100, 1));
  EXPECT_TRUE(with(100, me).is_about(me, share::reader(), 100, 1));
  EXPECT_FALSE(with(100, me).is_about(other_owner, share::reader(), 100, 1));
  EXPECT_FALSE(with(101, me).is_about(me, share::reader(), 100, 1));
}

TEST(break_request, without_a_fence_needs_an_owner) {
  EXPECT_TRUE(with(0, me).is_about(me, share(), 100, 64));
  EXPECT_FALSE(with(0, me).is_about(other_owner, share(), 100, 64));
  EXPECT_FALSE(with(0).is_about(me, share(), 100, 64));
}

TEST(break_request, for_permits_applies_by_owner_whatever_the_fence) {
  EXPECT_TRUE(with(0, me).is_about(me, share::permits(2, 10), 100, 1));
  EXPECT_TRUE(with(17, me).is_about(me, share::permits(2, 10), 100, 1));
  EXPECT_FALSE(with(100).is_about(me, share::permits(2, 10), 100, 1));
}

TEST(owner_of, reads_what_digits_of_writes_and_nothing_else) {
  const owner_id id{0x123456789abc, 0xfedcba987654};
  EXPECT_EQ(owner_of(digits_of(id)), id);
  for (const char* const bad : {"", "1", "0000000000000001000000000000000", "000000000000000100000000000000020",
                                "000000000000000x0000000000000002", "-0000000000000010000000000000002"}) {
    EXPECT_FALSE(owner_of(bad)) << bad;
  }
}

TEST(who_we_are, names_a_user_a_host_and_a_process) {
  const std::string who = who_we_are();
  EXPECT_NE(who.find('@'), std::string::npos) << who;
  EXPECT_NE(who.find(" pid "), std::string::npos) << who;
}

}  // namespace
}  // namespace holdfast::storage
