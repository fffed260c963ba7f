#include "redis/doctor/stray_keys.hpp"

#include <gtest/gtest.h>

#include "redis/doctor/health_rules.hpp"
#include "redis/protocol/keys.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using severity = finding::severity;
using test::is;

std::vector<finding> judged(const stray_keys& left, bool all = true) {
  storage::findings found;
  judge(left.facts(all), found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

TEST(stray_keys, know_the_type_of_every_key_of_ours) {
  for (const char* prefix : {"holdfast:", "shop:", "x", ""}) {
    const stray_keys left(prefix);
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

TEST(stray_keys, recognise_keys_of_others) {
  const stray_keys left("holdfast:");
  for (const char* other :
       {"job", "holdfast", "holdfast:", "holdfast:job", "holdfast:{a}:z", "holdfast:{a}q", "holdfast:q"}) {
    EXPECT_FALSE(left.type_of(other)) << other;
  }
}

TEST(stray_keys, escape_the_prefix_in_the_scan_pattern) {
  EXPECT_EQ(stray_keys("a*[b]?\\").pattern(), "a\\*\\[b\\]\\?\\\\*");
  EXPECT_EQ(stray_keys("").pattern(), "holdfast:*");
}

TEST(stray_keys, are_ok_if_every_key_has_its_type_and_ttl) {
  stray_keys left("holdfast:");
  left.add("holdfast:{a}", "string", 500);
  left.add("holdfast:{a}:q", "zset", 86'400'000);
  left.add("holdfast:{gone}", "none", stray_keys::gone);
  left.add("holdfast:something", "hash", stray_keys::no_end);
  const std::vector<finding> all = judged(left);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_TRUE(is(all, "redis.keys", severity::fine));
  EXPECT_EQ(left.looked_at(), 2u);
}

TEST(stray_keys, report_a_lock_without_ttl_as_critical) {
  stray_keys left("holdfast:");
  left.add("holdfast:{it's}", "string", stray_keys::no_end);
  const std::vector<finding> all = judged(left);
  ASSERT_TRUE(is(all, "redis.lock_without_end", severity::danger));
  EXPECT_NE(test::found(all, "redis.lock_without_end")->cure.find("DEL 'holdfast:{it'\\''s}'"), std::string::npos);
  EXPECT_EQ(test::found(all, "redis.keys"), nullptr);
}

TEST(stray_keys, warn_about_other_keys) {
  stray_keys left("holdfast:");
  left.add("holdfast:{a}:f", "string", stray_keys::no_end);
  left.add("holdfast:{b}", "hash", stray_keys::no_end);
  const std::vector<finding> all = judged(left);
  EXPECT_TRUE(is(all, "redis.key_without_end", severity::warning));
  EXPECT_TRUE(is(all, "redis.foreign_key", severity::warning));
}

TEST(stray_keys, report_that_not_all_keys_were_read) {
  stray_keys left("holdfast:");
  for (int n = 0; n < 5; ++n) left.add("holdfast:{" + std::to_string(n) + "}", "string", stray_keys::no_end);
  const std::vector<finding> all = judged(left, false);
  EXPECT_TRUE(is(all, "redis.keys", severity::note));
  EXPECT_NE(test::found(all, "redis.lock_without_end")->what.find("and 2 more"), std::string::npos);
  EXPECT_NE(test::found(all, "redis.keys")->what.find("Only 5 keys"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::redis
