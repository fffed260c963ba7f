#include "redis/doctor/required_permissions.hpp"

#include <gtest/gtest.h>

#include "redis/doctor/health_rules.hpp"
#include "redis/protocol/script.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using severity = finding::severity;
using test::is;

std::vector<finding> judged(const refusals& refused, std::string_view user = "me",
                            std::string_view prefix = "holdfast:") {
  storage::findings found;
  judge(refused.facts(user, prefix), found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

TEST(required_permissions, have_a_form_with_key_channel_and_script) {
  EXPECT_EQ(form_of({"set", "SET K m XX"}, "key", "channel").bytes(),
            "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1\r\nm\r\n$2\r\nXX\r\n");
  EXPECT_EQ(form_of({"spublish", "SPUBLISH C m"}, "key", "channel").bytes(),
            "*3\r\n$8\r\nSPUBLISH\r\n$7\r\nchannel\r\n$1\r\nm\r\n");
  EXPECT_NE(form_of({"script|load", "SCRIPT LOAD S"}, "", "").bytes().find(scripts::inspect.text), std::string::npos);
  EXPECT_EQ(required_permissions().size(), 25u);
}

TEST(required_permissions, depend_on_the_url) {
  const auto rights = [](const std::string& url) {
    std::string all;
    for (const permission& each : permissions_for(settings::parse(url))) all.append(each.right).append(" ");
    return all;
  };
  EXPECT_EQ(rights("redis://h"), "");
  EXPECT_EQ(rights("redis+sentinel://h/s"), "role ");
  EXPECT_EQ(rights("redis://h?wait_replicas=2"), "wait ");
  EXPECT_EQ(rights("redis://h?wait_replicas=all"), "role wait ");
  EXPECT_EQ(rights("redis://h?wait_aof=local"), "command|info waitaof ");
}

TEST(required_permissions, are_ok_if_nothing_was_refused) {
  refusals none;
  none.add("evalsha", "NOSCRIPT No matching script. Please use EVAL.");
  none.add("set", "READONLY You can't write against a read only replica.");
  const std::vector<finding> all = judged(none);
  EXPECT_TRUE(is(all, "redis.rights", severity::fine));
  EXPECT_TRUE(is(all, "redis.commands", severity::fine));
}

TEST(required_permissions, name_refused_commands_with_their_fix) {
  refusals some;
  some.add("zadd", "NOPERM this user has no permissions to run the 'zadd' command");
  some.add("script|load", "NOPERM User me has no permissions to run the 'script|load' command");
  const std::vector<finding> all = judged(some);
  ASSERT_TRUE(is(all, "redis.rights", severity::danger));
  EXPECT_TRUE(test::found(all, "redis.rights")->cure.starts_with("ACL SETUSER me +zadd +script|load;"));
}

TEST(required_permissions, grant_key_and_channel_patterns_with_prefix) {
  refusals some;
  some.add("get", "NOPERM this user has no permissions to access one of the keys used as arguments");
  some.add("set", "NOPERM No permissions to access a key");
  some.add("spublish", "NOPERM this user has no permissions to access one of the channels used as arguments");
  EXPECT_TRUE(test::found(judged(some, "", "shop:"), "redis.rights")
                  ->cure.starts_with("ACL SETUSER default '~shop:*' '&shop:*'"));
  EXPECT_NE(test::found(judged(some, "", ""), "redis.rights")->cure.find("'~holdfast:*'"), std::string::npos);
}

TEST(required_permissions, report_unknown_commands_as_critical) {
  refusals some;
  some.add("spublish", "ERR unknown command 'SPUBLISH', with args beginning with: ");
  const std::vector<finding> all = judged(some);
  EXPECT_TRUE(is(all, "redis.commands", severity::danger));
  EXPECT_TRUE(is(all, "redis.rights", severity::fine));
}

}  // namespace
}  // namespace holdfast::redis
