#include "redis/protocol/facts.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(facts, of_info_are_read_line_by_line_and_headings_are_passed_over) {
  const facts known =
      facts::of_info("# Server\r\nredis_version:7.0.15\r\n\r\nconfig_file:/etc/a:b\r\nuptime:12\r\nodd");
  EXPECT_EQ(known.text("redis_version"), "7.0.15");
  EXPECT_EQ(known.text("config_file"), "/etc/a:b");
  EXPECT_EQ(known.number("uptime"), 12);
  EXPECT_FALSE(known.find("odd"));
  EXPECT_FALSE(known.find("# Server"));
}

TEST(facts, of_a_configuration_are_names_and_values_in_turn) {
  value reply{.what = value::kind::list, .number = 0, .text = {}, .items = {}};
  for (const char* each : {"maxmemory", "0", "save", "", "odd"}) {
    reply.items.push_back({.what = value::kind::text, .number = 0, .text = each, .items = {}});
  }
  const facts known = facts::of_config(reply);
  EXPECT_EQ(known.number("maxmemory"), 0);
  EXPECT_EQ(known.find("save"), "");
  EXPECT_FALSE(known.find("odd"));
}

TEST(facts, of_any_size_are_kept_short) {
  EXPECT_EQ(facts::of_info("role:" + std::string(1'000'000, 'x')).text("role").size(), 512u);
}

TEST(facts, are_no_numbers_where_the_text_is_none) {
  EXPECT_EQ(number_of("-17"), -17);
  for (const char* bad : {"", "1x", "x", " 1", "99999999999999999999"}) EXPECT_FALSE(number_of(bad)) << bad;
}

TEST(facts, of_a_replica_are_found_by_name) {
  const char* const line = "ip=10.0.0.2,port=6379,state=online,offset=14,lag=1";
  EXPECT_EQ(field_of(line, "state"), "online");
  EXPECT_EQ(field_of(line, "lag"), "1");
  EXPECT_EQ(field_of(line, "age"), "");
  EXPECT_EQ(field_of("", "lag"), "");
}

}  // namespace
}  // namespace holdfast::redis
