#include "text/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::cli {
namespace {

using charset = json_value::charset;

std::string dumped(const json_value& value) { return value.dump(charset::utf8); }

TEST(json, writes_every_type) {
  EXPECT_EQ(dumped({}), "null");
  EXPECT_EQ(dumped(true), "true");
  EXPECT_EQ(dumped(-1), "-1");
  EXPECT_EQ(dumped(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(dumped(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615") << "a fence keeps every bit";
  EXPECT_EQ(dumped(1.5), "1.5");
  EXPECT_EQ(dumped("text"), "\"text\"");
  EXPECT_EQ(dumped(json_value::array{1, "two", json_value()}), "[1,\"two\",null]");
  EXPECT_EQ(dumped(json_value::array()), "[]");
  EXPECT_EQ(dumped(json_value::object()), "{}");
}

TEST(json, keeps_the_order_in_which_members_were_added) {
  json_value all;
  all["z"] = 1;
  all["a"] = 2;
  all["z"] = 3;
  EXPECT_EQ(dumped(all), "{\"z\":3,\"a\":2}");
}

TEST(json, turns_null_into_an_object_or_array) {
  json_value all;
  all["list"].push_back(1);
  all["list"].push_back(2);
  all["inner"]["member"] = json_value();
  EXPECT_EQ(dumped(all), "{\"list\":[1,2],\"inner\":{\"member\":null}}");
}

TEST(json, escapes_what_would_end_a_string_or_a_line) {
  EXPECT_EQ(dumped("a\"b\\c\nd\x01\x1b"), "\"a\\\"b\\\\c\\nd\\u0001\\u001b\"");
  EXPECT_EQ(dumped(std::string("a\0b", 3)), "\"a\\u0000b\"");
}

TEST(json, writes_other_characters_as_they_are_or_in_ascii) {
  const json_value text = "ä🔒";
  EXPECT_EQ(text.dump(charset::utf8), "\"ä🔒\"");
  EXPECT_EQ(text.dump(charset::ascii), "\"\\u00e4\\ud83d\\udd12\"");
}

TEST(json, replaces_invalid_utf8) {
  EXPECT_EQ(dumped("a\xff"
                   "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(json_value("\xc3").dump(charset::ascii), "\"\\ufffd\"");
}

TEST(json, writes_one_member_per_line_with_an_indent) {
  json_value all;
  all["a"] = 1;
  all["b"] = 2;
  EXPECT_EQ(all.dump(charset::utf8, 2), "{\n  \"a\": 1,\n  \"b\": 2\n}");
}

TEST(json, reads_what_it_writes) {
  json_value all;
  all["fence"] = std::numeric_limits<std::uint64_t>::max();
  all["less"] = -1;
  all["left"] = 0.25;
  all["name"] = "ä\n\"";
  all["list"].push_back(json_value::object());
  all["none"] = json_value();
  all["yes"] = true;
  EXPECT_EQ(dumped(json_value::parse(dumped(all))), dumped(all));
}

TEST(json, finds_members_of_the_requested_type) {
  const json_value all = json_value::parse(R"({"name":"lock","fence":18446744073709551615,"less":-1})");
  EXPECT_EQ(all.text("name"), "lock");
  EXPECT_EQ(all.number("fence"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(all.text("fence"), "");
  EXPECT_EQ(all.number("name"), 0U);
  EXPECT_EQ(all.number("less"), 0U);
  EXPECT_EQ(all.text("other"), "");
  EXPECT_EQ(json_value("text").text("name"), "") << "it is no object";
}

TEST(json, parses_invalid_text_as_null) {
  for (const char* const text : {"", "{", "{\"a\":}", "a", "{} {}", "\"\xff\""}) {
    EXPECT_EQ(dumped(json_value::parse(text)), "null") << text;
  }
}

}  // namespace
}  // namespace holdfast::cli
