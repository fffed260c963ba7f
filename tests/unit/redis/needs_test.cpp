#include "redis/protocol/needs.hpp"

#include <gtest/gtest.h>

#include "redis/protocol/script.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using severity = finding::severity;
using test::is;

std::vector<finding> judged(const refusals& refused, std::string_view user = "me",
                            std::string_view prefix = "holdfast:") {
  storage::findings found;
  refused.judge(user, prefix, found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

TEST(needs, have_a_form_with_their_key_their_channel_and_their_script) {
  EXPECT_EQ(form_of({"set", "SET K m XX"}, "key", "channel").bytes(),
            "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1\r\nm\r\n$2\r\nXX\r\n");
  EXPECT_EQ(form_of({"spublish", "SPUBLISH C m"}, "key", "channel").bytes(),
            "*3\r\n$8\r\nSPUBLISH\r\n$7\r\nchannel\r\n$1\r\nm\r\n");
  EXPECT_NE(form_of({"script|load", "SCRIPT LOAD S"}, "", "").bytes().find(scripts::inspect.text), std::string::npos);
  EXPECT_EQ(needs().size(), 25u);
}

TEST(needs, of_some_urls_are_more) {
  const auto rights = [](const std::string& url) {
    std::string all;
    for (const need& each : needs_of(settings::parse(url))) all.append(each.right).append(" ");
    return all;
  };
  EXPECT_EQ(rights("redis://h"), "");
  EXPECT_EQ(rights("redis+sentinel://h/s"), "role ");
  EXPECT_EQ(rights("redis://h?wait_replicas=2"), "wait ");
  EXPECT_EQ(rights("redis://h?wait_replicas=all"), "role wait ");
  EXPECT_EQ(rights("redis://h?wait_aof=local"), "command|info waitaof ");
}

TEST(needs, that_are_met_are_fine) {
  refusals none;
  none.add("evalsha", "NOSCRIPT No matching script. Please use EVAL.");
  none.add("set", "READONLY You can't write against a read only replica.");
  const std::vector<finding> all = judged(none);
  EXPECT_TRUE(is(all, "redis.rights", severity::fine));
  EXPECT_TRUE(is(all, "redis.commands", severity::fine));
}

TEST(needs, that_are_refused_are_named_with_the_line_that_mends_it) {
  refusals some;
  some.add("zadd", "NOPERM this user has no permissions to run the 'zadd' command");
  some.add("script|load", "NOPERM User me has no permissions to run the 'script|load' command");
  const std::vector<finding> all = judged(some);
  ASSERT_TRUE(is(all, "redis.rights", severity::danger));
  EXPECT_TRUE(test::found(all, "redis.rights")->cure.starts_with("ACL SETUSER me +zadd +script|load;"));
}

TEST(needs, of_keys_and_channels_are_patterns_with_the_prefix) {
  refusals some;
  some.add("get", "NOPERM this user has no permissions to access one of the keys used as arguments");
  some.add("set", "NOPERM No permissions to access a key");
  some.add("spublish", "NOPERM this user has no permissions to access one of the channels used as arguments");
  EXPECT_TRUE(test::found(judged(some, "", "shop:"), "redis.rights")
                  ->cure.starts_with("ACL SETUSER default '~shop:*' '&shop:*'"));
  EXPECT_NE(test::found(judged(some, "", ""), "redis.rights")->cure.find("'~holdfast:*'"), std::string::npos);
}

TEST(needs, that_the_server_does_not_know_are_danger) {
  refusals some;
  some.add("spublish", "ERR unknown command 'SPUBLISH', with args beginning with: ");
  const std::vector<finding> all = judged(some);
  EXPECT_TRUE(is(all, "redis.commands", severity::danger));
  EXPECT_TRUE(is(all, "redis.rights", severity::fine));
}

}  // namespace
}  // namespace holdfast::redis
