#include "redis/lock/replica_wait.hpp"

#include <gtest/gtest.h>

#include "support/replies.hpp"
#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

command words(std::initializer_list<std::string_view> all) {
  command c(all.size());
  for (const std::string_view each : all) c.add(each);
  return c;
}

std::string sent(const std::string& options, std::int64_t needed) {
  const settings s = settings::parse("redis://h?" + options);
  return replica_wait(s).behind(words({"GRANT"}), needed).bytes().substr(words({"GRANT"}).bytes().size());
}

TEST(replica_wait, sends_wait_commands_behind_the_grant) {
  EXPECT_EQ(sent("wait_replicas=2", 2), words({"WAIT", "2", "200"}).bytes());
  EXPECT_EQ(sent("wait_replicas=all", 0), "");
  EXPECT_EQ(sent("wait_aof=local", 0), words({"WAITAOF", "1", "0", "200"}).bytes());
  EXPECT_EQ(sent("wait_aof=replicas&wait_replicas=2&wait_timeout=50ms", 2), words({"WAITAOF", "1", "2", "50"}).bytes());
  EXPECT_EQ(sent("wait_aof=local&wait_replicas=2", 2),
            words({"WAITAOF", "1", "0", "200"}).bytes() + words({"WAIT", "2", "200"}).bytes());
}

TEST(replica_wait, reports_how_many_replicas_are_missing) {
  const settings s = settings::parse("redis://h?wait_replicas=2");
  const replica_wait wait(s);
  EXPECT_EQ(wait.needed(), 2);
  EXPECT_FALSE(wait.missing(list_value({number_value(7), number_value(2)}), 2));
  EXPECT_FALSE(wait.missing(list_value({number_value(7), number_value(3)}), 2));
  const std::optional<storage::failure> why = wait.missing(list_value({number_value(7), number_value(1)}), 2);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, errc::not_ready);
  EXPECT_TRUE(why->text.starts_with("1 of the 2 replicas that it needs had the lock within 200 ms")) << why->text;
}

TEST(replica_wait, checks_disks_if_required) {
  const settings s = settings::parse("redis://h?wait_aof=replicas&wait_replicas=1");
  const replica_wait wait(s);
  EXPECT_FALSE(wait.missing(list_value({number_value(7), list_value({number_value(1), number_value(1)})}), 1));
  EXPECT_TRUE(wait.missing(list_value({number_value(7), list_value({number_value(0), number_value(1)})}), 1)
                  ->text.find("the server's disk") != std::string::npos);
  EXPECT_TRUE(wait.missing(list_value({number_value(7), list_value({number_value(1), number_value(0)})}), 1)
                  ->text.starts_with("0 of the 1 replica "));
}

}  // namespace
}  // namespace holdfast::redis
