#include "redis/lock/inspection.hpp"

#include <gtest/gtest.h>

#include "redis/protocol/owner.hpp"
#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

const std::string some_owner = owner_text("AbCdEfGhIjKlMn-_", {1, 2}, {}, 500ms, "a label");

value inspect_reply(const std::string& in_lock, std::vector<value> those = {}) {
  const auto many = static_cast<std::int64_t>(those.size() / 2);
  return list_value({text_value(in_lock), number_value(700), number_value(1063), number_value(5'000'000),
                     number_value(many), list_value(std::move(those)), number_value(1),
                     list_value({text_value(some_owner)}), list_value({}), text_value(""), text_value("2000000")});
}

TEST(inspection, shows_the_holder_and_its_first_fence) {
  const auto seen = inspection::of(inspect_reply(some_owner));
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->is.holders.size(), 1u);
  const state::holder& who = seen->is.holders[0];
  EXPECT_EQ(who.owner, "00000000000000010000000000000002");
  EXPECT_EQ(who.label, "a label");
  EXPECT_EQ(who.fence, 1000u);
  EXPECT_EQ(who.left, 700ms);
  EXPECT_EQ(seen->is.waiting_since, std::chrono::system_clock::time_point(2s));
  EXPECT_FALSE(who.foreign);
  EXPECT_EQ(seen->is.waiting, 1u);
  EXPECT_EQ(seen->is.waiters.at(0).label, "a label");
}

TEST(inspection, derives_the_start_of_the_lease_from_the_fence) {
  const std::chrono::system_clock::time_point began{};
  EXPECT_EQ(inspection::of(inspect_reply(some_owner))->is.holders.at(0).since, began + 1000us);
  const value readers = inspect_reply("+9000000", {text_value(some_owner), text_value("6000")});
  EXPECT_EQ(inspection::of(readers)->is.holders.at(0).since, began + 5s) << "a clock was set back: not in the future";
  EXPECT_EQ(inspection::of(readers)->is.holders.at(0).left, 1s);
  value unknown = inspect_reply(some_owner);
  unknown.items[2].number = 0;
  EXPECT_FALSE(inspection::of(unknown)->is.holders.at(0).since);
}

TEST(inspection, shows_who_revoked_and_who_broke_it) {
  value v = inspect_reply(some_owner);
  v.items[8] = list_value({text_value("17"), text_value(" make room"), text_value("@2000000 ann@web-1 pid 4711")});
  v.items[9] = text_value("AbCdEfGhIjKlMn-_ 18 3000000 17 bob@web-2 pid 812it hangs");
  const auto seen = inspection::of(v);
  ASSERT_TRUE(seen && seen->is.asked && seen->is.broken);
  const std::chrono::system_clock::time_point began{};
  EXPECT_EQ(seen->is.asked->reason, "make room");
  EXPECT_EQ(seen->is.asked->by, "ann@web-1 pid 4711");
  EXPECT_EQ(seen->is.asked->fence, 17u);
  EXPECT_EQ(seen->is.asked->at, began + 2s);
  EXPECT_EQ(seen->is.broken->reason, "it hangs");
  EXPECT_EQ(seen->is.broken->by, "bob@web-2 pid 812");
  EXPECT_EQ(seen->is.broken->fence, 18u);
  EXPECT_EQ(seen->is.broken->at, began + 3s);
  for (const char* const strange : {"", "x", "x 1", "x 1 2 ", "x 1 2 9 short", "x -1 2 0 "}) {
    v.items[9] = text_value(strange);
    EXPECT_FALSE(inspection::of(v)->is.broken) << strange;
  }
}

TEST(inspection, reports_any_other_value_as_foreign) {
  for (const char* const in_lock : {"1", "+", "+x", "#", "#x", "a token of another library"}) {
    const auto seen = inspection::of(inspect_reply(in_lock));
    ASSERT_TRUE(seen) << in_lock;
    ASSERT_EQ(seen->is.holders.size(), 1u) << in_lock;
    EXPECT_TRUE(seen->is.holders[0].foreign) << in_lock;
    EXPECT_EQ(seen->is.permits, 0u) << in_lock;
  }
}

TEST(inspection, shows_the_records_of_clients) {
  auto seen = inspection::of(inspect_reply(some_owner));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->inboxes.size(), 2u);
  seen->introduce(list_value({text_value("web-1\n4711\nreports"), value()}));
  EXPECT_EQ(seen->is.holders[0].host, "web-1");
  EXPECT_EQ(seen->is.holders[0].pid, 4711);
  EXPECT_EQ(seen->is.holders[0].program, "reports");
  EXPECT_EQ(seen->is.waiters[0].host, "");
  for (const char* const strange : {"", "x", "a\nb", "\n\n", "a\nx\nb"}) {
    seen->introduce(list_value({text_value(strange)}));
    EXPECT_EQ(seen->is.holders[0].host, std::string(strange) == "a\nx\nb" ? "a" : seen->is.holders[0].host);
  }
}

TEST(inspection, rejects_a_malformed_reply) {
  EXPECT_FALSE(inspection::of(number_value(1)));
  EXPECT_FALSE(inspection::of(list_value({})));
  const value good = inspect_reply(some_owner);
  for (std::size_t n = 0; n < good.items.size(); ++n) {
    value bad = good;
    bad.items[n] = value();
    EXPECT_FALSE(inspection::of(bad)) << n;
  }
  value bad = inspect_reply("+7", {text_value("x")});
  EXPECT_TRUE(inspection::of(bad)) << "half a pair is left out";
}

}  // namespace
}  // namespace holdfast::redis
