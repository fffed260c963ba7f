#include "redis/doctor/leftovers.hpp"

#include <gtest/gtest.h>

#include "redis/protocol/keys.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using severity = finding::severity;
using test::is;

std::vector<finding> judged(const leftovers& left, bool all = true) {
  storage::findings found;
  left.judge(all, found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

TEST(leftovers, know_the_type_of_every_key_of_ours_with_and_without_a_prefix) {
  for (const char* prefix : {"holdfast:", "shop:", "x", ""}) {
    const leftovers left(prefix);
    for (const char* name : {"job", "{shop}job", "job}", "a:q", "%", "latch/x"}) {
      const auto [lock, queue, fence, holders, asked, broken, texts] = keys(prefix, name);  // a new one is missed here
      const auto [number, watchers] = cell_keys(prefix, name);
      if (*prefix != '\0') {
        EXPECT_EQ(left.type_of(lock), "string") << lock;
      }
      for (const std::string_view each : {queue, holders, asked, std::string_view(watchers)})
        EXPECT_EQ(left.type_of(each), "zset") << each;
      for (const std::string_view each : {fence, broken, std::string_view(number)})
        EXPECT_EQ(left.type_of(each), "string") << each;
    }
    EXPECT_EQ(left.type_of(client_record(prefix, "AbCdEfGhIjKlMn-_")), "string");
  }
}

TEST(leftovers, know_what_is_not_ours) {
  const leftovers left("holdfast:");
  for (const char* other :
       {"job", "holdfast", "holdfast:", "holdfast:job", "holdfast:{a}:z", "holdfast:{a}q", "holdfast:q"}) {
    EXPECT_FALSE(left.type_of(other)) << other;
  }
}

TEST(leftovers, look_for_their_prefix_as_it_stands) {
  EXPECT_EQ(leftovers("a*[b]?\\").pattern(), "a\\*\\[b\\]\\?\\\\*");
  EXPECT_EQ(leftovers("").pattern(), "holdfast:*");
}

TEST(leftovers, are_fine_where_every_key_has_its_type_and_its_end) {
  leftovers left("holdfast:");
  left.add("holdfast:{a}", "string", 500);
  left.add("holdfast:{a}:q", "zset", 86'400'000);
  left.add("holdfast:{gone}", "none", leftovers::gone);
  left.add("holdfast:something", "hash", leftovers::no_end);
  const std::vector<finding> all = judged(left);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_TRUE(is(all, "redis.keys", severity::fine));
  EXPECT_EQ(left.looked_at(), 2u);
}

TEST(leftovers, of_locks_without_an_end_are_danger) {
  leftovers left("holdfast:");
  left.add("holdfast:{it's}", "string", leftovers::no_end);
  const std::vector<finding> all = judged(left);
  ASSERT_TRUE(is(all, "redis.lock_without_end", severity::danger));
  EXPECT_NE(test::found(all, "redis.lock_without_end")->cure.find("DEL 'holdfast:{it'\\''s}'"), std::string::npos);
  EXPECT_EQ(test::found(all, "redis.keys"), nullptr);
}

TEST(leftovers, of_other_keys_are_warnings) {
  leftovers left("holdfast:");
  left.add("holdfast:{a}:f", "string", leftovers::no_end);
  left.add("holdfast:{b}", "hash", leftovers::no_end);
  const std::vector<finding> all = judged(left);
  EXPECT_TRUE(is(all, "redis.key_without_end", severity::warning));
  EXPECT_TRUE(is(all, "redis.foreign_key", severity::warning));
}

TEST(leftovers, say_how_many_were_looked_at_and_that_there_are_more) {
  leftovers left("holdfast:");
  for (int n = 0; n < 5; ++n) left.add("holdfast:{" + std::to_string(n) + "}", "string", leftovers::no_end);
  const std::vector<finding> all = judged(left, false);
  EXPECT_TRUE(is(all, "redis.keys", severity::note));
  EXPECT_NE(test::found(all, "redis.lock_without_end")->what.find("and 2 more"), std::string::npos);
  EXPECT_NE(test::found(all, "redis.keys")->what.find("Only 5 keys"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::redis
