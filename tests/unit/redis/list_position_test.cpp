#include "redis/lock/list_position.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using server_names = std::vector<std::string>;

const server_names one_server(1), three_servers = {"a:1", "b:2", "c:3"};

TEST(list_position, goes_from_part_to_part) {
  list_position p(three_servers);
  EXPECT_EQ(p.part(), "a:1");
  EXPECT_EQ(p.cursor(), "0");
  p.go_to("17");
  EXPECT_EQ(p.write(), "17@a:1");
  p.go_to("0");
  EXPECT_EQ(p.write(), "0@b:2");
  p.go_to("0");
  p.go_to("0");
  EXPECT_TRUE(p.is_over());
  EXPECT_EQ(p.write(), "");
}

TEST(list_position, is_only_a_cursor_with_one_server) {
  list_position p(one_server);
  p.go_to("17");
  EXPECT_EQ(p.write(), "17");
  EXPECT_FALSE(p.put_off());
  EXPECT_EQ(list_position::read("17", one_server)->cursor(), "17");
}

TEST(list_position, returns_to_postponed_parts_at_the_end) {
  list_position p(three_servers);
  p.go_to("17");
  EXPECT_TRUE(p.put_off());
  p.go_to("0");
  EXPECT_EQ(p.write(), "0@c:3;17@a:1");
  EXPECT_FALSE(p.others_are_listed());
  std::optional<list_position> next = list_position::read(p.write(), three_servers);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->put_off());
  EXPECT_EQ(next->part(), "a:1");
  EXPECT_EQ(next->cursor(), "17");
  EXPECT_FALSE(next->put_off()) << "once is enough";
  EXPECT_EQ(next->write(), ";17@a:1;0@c:3");
  EXPECT_TRUE(next->others_are_listed());
  std::optional<list_position> last = list_position::read(next->write(), three_servers);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->part(), "a:1");
  last->go_to("0");
  EXPECT_EQ(last->part(), "c:3");
  EXPECT_FALSE(last->is_over());
  last->go_to("0");
  EXPECT_TRUE(last->is_over());
}

TEST(list_position, has_listed_nothing_if_all_parts_are_postponed) {
  list_position p(three_servers);
  while (p.put_off()) EXPECT_FALSE(p.others_are_listed());
  EXPECT_FALSE(p.others_are_listed());
}

TEST(list_position, skips_a_removed_part_or_restarts_if_it_was_postponed) {
  EXPECT_EQ(list_position::read("17@bb:9", three_servers)->part(), "c:3");
  EXPECT_EQ(list_position::read("17@bb:9", three_servers)->cursor(), "0");
  EXPECT_EQ(list_position::read("5@c:3;17@bb:9", three_servers)->write(), "0@a:1");
}

TEST(list_position, rejects_malformed_texts) {
  for (const char* const bad :
       {"x", "17", "@a:1", "-1@a:1", "17@a:1;", "17@a:1;x", "17@a:1;@b:2", "123456789012345678901@a:1"}) {
    EXPECT_FALSE(list_position::read(bad, three_servers)) << bad;
  }
  for (const char* const bad : {"x", "17@a:1", "17;18", ";"}) EXPECT_FALSE(list_position::read(bad, one_server)) << bad;
}

}  // namespace
}  // namespace holdfast::redis
