#include "redis/transport/pipeline.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

command word(std::string_view text) {
  command c(1);
  c.add(text);
  return c;
}

struct pipeline_test : testing::Test {
  const command get = word("GET"), put = word("PUT");
  pipeline sent;

  /// Returns the bytes that are sent now.
  std::string unsent() {
    std::string bytes;
    sent.take_unsent(bytes);
    return bytes;
  }
  struct failure_of {
    const pending_reply* waiter;
    bool was_sent;
    bool operator==(const failure_of&) const = default;
  };
  std::vector<failure_of> fail_all() {
    std::vector<failure_of> all;
    sent.fail_all(storage::failure(errc::unreachable, "cut"),
                  [&](const pending_reply& each, bool was_sent) { all.push_back({&each, was_sent}); });
    return all;
  }
  static std::int64_t number_in(const pending_reply& r) { return std::get<value>(*r.got).number; }
};

TEST_F(pipeline_test, gives_replies_to_waiters_in_the_order_of_commands) {
  pending_reply first(get), second(put);
  sent.add(get, &first);
  sent.add(put, &second);
  EXPECT_EQ(unsent(), get.bytes() + put.bytes());
  EXPECT_EQ(sent.take(number_value(1)), &first);
  EXPECT_FALSE(second.got);
  EXPECT_EQ(sent.take(number_value(2)), &second);
  EXPECT_EQ(number_in(first), 1);
  EXPECT_EQ(number_in(second), 2);
  EXPECT_TRUE(sent.empty());
}

TEST_F(pipeline_test, appends_what_is_unsent_to_what_is_left_of_the_last_write) {
  sent.add(get, nullptr);
  EXPECT_TRUE(sent.has_unsent());
  std::string bytes = "rest";
  sent.take_unsent(bytes);
  EXPECT_EQ(bytes, "rest" + get.bytes());
  EXPECT_FALSE(sent.has_unsent());
  EXPECT_FALSE(sent.empty()) << "its reply is due";
}

TEST_F(pipeline_test, drops_the_reply_of_an_abandoned_command) {
  pending_reply first(get), second(put);
  sent.add(get, &first);
  sent.add(put, &second);
  sent.abandon(first);
  EXPECT_TRUE(sent.starts_abandoned());
  EXPECT_EQ(sent.first_waiter(), &second);
  EXPECT_EQ(sent.take(number_value(1)), nullptr);
  EXPECT_FALSE(first.got);
  EXPECT_EQ(sent.take(number_value(2)), &second);
}

TEST_F(pipeline_test, gives_only_the_last_reply_of_several_commands) {
  const command both = word("LOAD").then(get);
  pending_reply mine(both);
  sent.add(both, &mine);
  EXPECT_EQ(sent.take(number_value(1)), nullptr);
  EXPECT_FALSE(mine.got);
  EXPECT_EQ(sent.take(number_value(2)), &mine);
  EXPECT_EQ(number_in(mine), 2);
}

TEST_F(pipeline_test, gives_several_wanted_replies_as_one_list) {
  command wanted = word("B");
  wanted.along_with(word("C")).along_with(word("D"));
  const command all = word("A").then(wanted);
  ASSERT_EQ(all.replies(), 4u);
  pending_reply mine(all), next(get);
  sent.add(all, &mine);
  sent.add(get, &next);
  for (const int n : {0, 1, 2}) EXPECT_EQ(sent.take(number_value(n)), nullptr);
  EXPECT_FALSE(mine.got);
  EXPECT_EQ(sent.take(number_value(3)), &mine);
  const value& list = std::get<value>(*mine.got);
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_EQ(list.items[0].number, 1);
  EXPECT_EQ(list.items[2].number, 3);
  EXPECT_EQ(sent.take(number_value(4)), &next);
}

TEST_F(pipeline_test, drops_all_replies_of_a_command_abandoned_halfway) {
  const command both = word("A").along_with(word("B"));
  pending_reply mine(both), next(get);
  sent.add(both, &mine);
  sent.add(get, &next);
  EXPECT_EQ(sent.take(number_value(1)), nullptr);
  sent.abandon(mine);
  EXPECT_EQ(sent.take(number_value(2)), nullptr);
  EXPECT_EQ(sent.take(number_value(3)), &next);
}

TEST_F(pipeline_test, refuses_a_reply_that_is_not_due) {
  EXPECT_THROW((void)sent.take(number_value(1)), malformed);
  sent.add(get, nullptr);
  EXPECT_EQ(sent.take(number_value(1)), nullptr);
  EXPECT_THROW((void)sent.take(number_value(2)), malformed);
}

TEST_F(pipeline_test, tells_on_failure_which_commands_were_sent) {
  const command both = word("A").then(put);
  pending_reply first(get), second(both), last(get);
  sent.add(get, &first);
  sent.add(put, nullptr);
  sent.add(both, &second);
  (void)unsent();
  sent.add(get, &last);
  EXPECT_EQ(sent.take(number_value(1)), &first);
  EXPECT_EQ(fail_all(), (std::vector<failure_of>{{&second, true}, {&last, false}}));
  EXPECT_EQ(std::get<storage::failure>(*second.got).text, "cut");
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(sent.has_unsent());
}

TEST_F(pipeline_test, forgets_unsent_commands_only) {
  pending_reply first(get);
  sent.add(get, &first);
  (void)unsent();
  sent.add(put, nullptr);
  sent.drop_unsent();
  EXPECT_EQ(unsent(), "");
  EXPECT_EQ(sent.take(number_value(1)), &first);
  EXPECT_TRUE(sent.empty());
}

TEST_F(pipeline_test, forgets_abandoned_commands_before_the_first_waiter) {
  pending_reply mine(get);
  sent.add(put, nullptr);
  sent.add(put, nullptr);
  (void)unsent();
  sent.add(get, &mine);
  sent.add(put, nullptr);
  sent.drop_abandoned();
  EXPECT_FALSE(sent.starts_abandoned());
  EXPECT_EQ(unsent(), get.bytes() + put.bytes());
  EXPECT_EQ(sent.take(number_value(1)), &mine);
  EXPECT_EQ(sent.take(number_value(2)), nullptr);
  EXPECT_TRUE(sent.empty());
}

TEST_F(pipeline_test, has_no_waiter_when_all_commands_are_abandoned) {
  pending_reply mine(get);
  EXPECT_EQ(sent.first_waiter(), nullptr);
  sent.add(get, &mine);
  EXPECT_EQ(sent.first_waiter(), &mine);
  sent.abandon(mine);
  EXPECT_EQ(sent.first_waiter(), nullptr);
  sent.clear();
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(sent.has_unsent());
}

}  // namespace
}  // namespace holdfast::redis
