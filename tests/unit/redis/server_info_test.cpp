#include "redis/protocol/server_info.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(server_info, reads_lines_of_info_and_skips_headings) {
  const server_info known =
      server_info::of_info("# Server\r\nredis_version:7.0.15\r\n\r\nconfig_file:/etc/a:b\r\nuptime:12\r\nodd");
  EXPECT_EQ(known.text("redis_version"), "7.0.15");
  EXPECT_EQ(known.text("config_file"), "/etc/a:b");
  EXPECT_EQ(known.number("uptime"), 12);
  EXPECT_FALSE(known.find("odd"));
  EXPECT_FALSE(known.find("# Server"));
}

TEST(server_info, reads_names_and_values_of_config_get) {
  value reply{.what = value::kind::list, .number = 0, .text = {}, .items = {}};
  for (const char* each : {"maxmemory", "0", "save", "", "odd"}) {
    reply.items.push_back({.what = value::kind::text, .number = 0, .text = each, .items = {}});
  }
  const server_info known = server_info::of_config(reply);
  EXPECT_EQ(known.number("maxmemory"), 0);
  EXPECT_EQ(known.find("save"), "");
  EXPECT_FALSE(known.find("odd"));
}

TEST(server_info, truncates_long_values) {
  EXPECT_EQ(server_info::of_info("role:" + std::string(1'000'000, 'x')).text("role").size(), 512u);
}

TEST(server_info, rejects_texts_that_are_not_numbers) {
  EXPECT_EQ(number_of("-17"), -17);
  for (const char* bad : {"", "1x", "x", " 1", "99999999999999999999"}) EXPECT_FALSE(number_of(bad)) << bad;
}

TEST(server_info, finds_the_fields_of_a_replica) {
  const char* const line = "ip=10.0.0.2,port=6379,state=online,offset=14,lag=1";
  EXPECT_EQ(field_of(line, "state"), "online");
  EXPECT_EQ(field_of(line, "lag"), "1");
  EXPECT_EQ(field_of(line, "age"), "");
  EXPECT_EQ(field_of("", "lag"), "");
}

}  // namespace
}  // namespace holdfast::redis
