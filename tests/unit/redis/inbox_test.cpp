#include "redis/lock/inbox.hpp"

#include <gtest/gtest.h>

#include <string>

#include "redis/protocol/owner.hpp"
#include "runtime/inline_io.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

std::string text_of(std::string_view fence, std::string_view time, std::string_view owner, std::string_view key) {
  return std::string(fence).append(" ").append(time).append(" ").append(std::to_string(owner.size())) + " " +
         std::string(owner).append(key);
}

bool is_called(addressee& who) { return runtime::wait_here(who.called, within(0s)) == runtime::wake::signalled; }

TEST(message, has_fence_time_owner_and_key) {
  const std::string owner = owner_text("AbCdEfGhIjKlMnOp", {1, 2}, {}, 500ms, "a label");
  const std::string text = text_of("1763225000000001", "1763225000000000", owner, "holdfast:{train}");
  const auto m = message::parse(text);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->fence, 1763225000000001u);
  EXPECT_EQ(m->server_time, 1763225000000000);
  EXPECT_EQ(m->owner, owner);
  EXPECT_EQ(m->key, "holdfast:{train}");
}

TEST(message, accepts_any_bytes_in_owner_and_key) {
  const std::string owner("a b 1 2\r\n\0", 10), key("7 8 {} \0\xff", 9);
  const std::string text = text_of("1", "2", owner, key);
  const auto m = message::parse(text);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->owner, owner);
  EXPECT_EQ(m->key, key);
}

TEST(message, is_rejected_if_malformed) {
  for (const std::string_view bad : {
           "",
           " ",
           "hello",
           "1",
           "1 ",
           "1 2",
           "1 2 ",
           "1 2 3",
           "1 2 3 ",
           "1 2 3 ab",
           " 1 2 1 a",
           "1  2 1 a",
           "x 2 1 a",
           "1 x 1 a",
           "1 2 x a",
           "-1 2 1 a",
           "1 2 -1 a",
           "+1 2 1 a",
           "1.0 2 1 a",
           "1e3 2 1 a",
           "0x1 2 1 a",
           "1\t2\t1\ta",
           "1,2,1,a",
           "18446744073709551616 2 1 a",
           "1 9223372036854775808 1 a",
           "1 2 18446744073709551616 a",
           "1 2 18446744073709551615 a",
           "1 2 2 a",
           "9007199254740993 2 1 a",
           "1 9007199254740993 1 a",
           "1 -1 1 a",
       }) {
    EXPECT_FALSE(message::parse(bad)) << bad;
  }
}

TEST(message, is_rejected_if_truncated) {
  const std::string owner = owner_text("AbCdEfGhIjKlMnOp", {1, 2}, {}, 500ms, "");
  const std::string text = text_of("10", "20", owner, "");
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(message::parse(std::string_view(text).substr(0, n))) << n;
  EXPECT_TRUE(message::parse(text));
}

TEST(inbox, delivers_to_the_named_owner) {
  inbox in;
  addressee a, b;
  in.add("a", a);
  in.add("b", b);
  EXPECT_TRUE(in.deliver({message::kind::grant, 7, 8, "a", "K", ""}));
  const auto told = a.granted.with([](auto& last) { return last; });
  ASSERT_TRUE(told);
  EXPECT_EQ(told->fence, 7u);
  EXPECT_EQ(told->server_time, 8);
  EXPECT_TRUE(is_called(a));
  EXPECT_FALSE(is_called(b));
  EXPECT_FALSE(b.granted.with([](auto& last) { return last.has_value(); }));
}

TEST(inbox, keeps_the_last_of_two_messages) {
  inbox in;
  addressee a;
  in.add("a", a);
  EXPECT_TRUE(in.deliver({message::kind::grant, 7, 8, "a", "K", ""}));
  EXPECT_TRUE(in.deliver({message::kind::grant, 9, 10, "a", "K", ""}));
  EXPECT_EQ(a.granted.with([](auto& last) { return last->fence; }), 9u);
}

TEST(inbox, reports_that_the_owner_does_not_wait) {
  inbox in;
  EXPECT_FALSE(in.deliver({message::kind::grant, 7, 8, "a", "K", ""}));
  addressee a;
  in.add("a", a);
  in.remove("a");
  EXPECT_FALSE(in.deliver({message::kind::grant, 7, 8, "a", "K", ""}));
  EXPECT_FALSE(is_called(a));
}

TEST(message, reads_a_revoke_request) {
  const auto m = message::parse("?1790000000000063 5 ownerwhy not");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->what, message::kind::revoke_request);
  EXPECT_EQ(m->fence, 1'790'000'000'000'063u);
  EXPECT_EQ(m->owner, "owner");
  EXPECT_EQ(m->reason, "why not");
  EXPECT_EQ(message::parse("?0 5 owner")->reason, "");
  const auto renewed = message::of_renewal("owner", "7 why not");
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->what, message::kind::revoke_request);
  EXPECT_EQ(renewed->owner, "owner");
  EXPECT_EQ(renewed->fence, 7u);
  EXPECT_EQ(renewed->reason, "why not");
  EXPECT_EQ(message::of_renewal("owner", "0 ")->reason, "");
}

TEST(message, rejects_what_only_looks_like_a_revoke_request) {
  for (const char* const bad : {"", "?", "?x", "?1", "?1 ", "?1 9 owner", "?-1 5 owner", "?1 x owner"}) {
    EXPECT_FALSE(message::parse(bad)) << bad;
  }
  EXPECT_EQ(message::parse("1 2 3 abc")->what, message::kind::grant);
  for (const char* const bad : {"", "7", "x y", "-7 why"}) EXPECT_FALSE(message::of_renewal("owner", bad)) << bad;
}

TEST(message, reads_a_loss_and_a_change) {
  const auto loss = message::parse("!owner");
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->what, message::kind::loss);
  EXPECT_EQ(loss->owner, "owner");
  const auto change = message::parse("~key");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->what, message::kind::change);
  EXPECT_EQ(change->key, "key");
}

TEST(inbox, wakes_the_concerned_waiters) {
  inbox in;
  addressee a, b, c;
  a.slot = 7;
  b.listened_at = 3;
  in.add("a", a);
  in.add("b", b);
  in.add("c", c);
  in.wake([](std::uint16_t slot, storage::shard listened_at) { return slot == 7 || listened_at == 3; });
  EXPECT_TRUE(is_called(a));
  EXPECT_TRUE(is_called(b));
  EXPECT_FALSE(is_called(c));
  EXPECT_FALSE(a.granted.with([](auto& last) { return last.has_value(); }));
}

}  // namespace
}  // namespace holdfast::redis
