#include "redis/protocol/slots.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(slots, match_what_a_cluster_computes) {  // CLUSTER KEYSLOT of Redis 7.0.15
  EXPECT_EQ(slot_of("123456789"), 0x31c3);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("holdfast:{a}"), slot_of("a"));
}

TEST(slots, use_the_first_hash_tag_of_a_key) {
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
}

TEST(slots, have_a_short_tag_each) {
  for (unsigned slot = 0; slot < slots_of_a_cluster; ++slot) {
    const std::string tag = tag_of(static_cast<std::uint16_t>(slot));
    EXPECT_EQ(slot_of(tag), slot);
    EXPECT_LE(tag.size(), 5u);
    EXPECT_EQ(slot_of("in:{" + tag + "}AbCdEfGhIjKlMnOp"), slot) << "it is no tag";
  }
}

}  // namespace
}  // namespace holdfast::redis
