#include "redis/protocol/codec.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/replies.hpp"

namespace holdfast::redis {
namespace {

using test::decoded;
using test::out_of_step;
using lines = std::vector<std::string>;

const lines malformed_at_once{std::string(out_of_step)};

std::string text_of(std::size_t size) { return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n"; }

std::string repeated(std::string_view what, std::size_t times) {
  std::string all;
  for (std::size_t n = 0; n < times; ++n) all.append(what);
  return all;
}

TEST(decoder, knows_every_type_of_resp2) {
  EXPECT_EQ(decoded("+OK\r\n"), lines{"\"OK\""});
  EXPECT_EQ(decoded("+\r\n"), lines{"\"\""});
  EXPECT_EQ(decoded("-ERR no\r\n"), lines{"!ERR no"});
  EXPECT_EQ(decoded(":7\r\n:-7\r\n:+7\r\n:0\r\n"), (lines{"7", "-7", "7", "0"}));
  EXPECT_EQ(decoded("$5\r\nhello\r\n"), lines{"\"hello\""});
  EXPECT_EQ(decoded("$0\r\n\r\n"), lines{"\"\""});
  EXPECT_EQ(decoded("$-1\r\n"), lines{"nil"});
  EXPECT_EQ(decoded("*2\r\n:1\r\n$1\r\na\r\n"), lines{"[1 \"a\"]"});
  EXPECT_EQ(decoded("*0\r\n"), lines{"[]"});
  EXPECT_EQ(decoded("*-1\r\n"), lines{"nil"});
}

TEST(decoder, knows_every_type_of_resp3) {
  EXPECT_EQ(decoded("_\r\n"), lines{"nil"});
  EXPECT_EQ(decoded("#t\r\n#f\r\n"), (lines{"1", "0"}));
  EXPECT_EQ(decoded(",3.25\r\n,inf\r\n,-inf\r\n,nan\r\n"), (lines{"\"3.25\"", "\"inf\"", "\"-inf\"", "\"nan\""}));
  EXPECT_EQ(decoded("(12345678901234567890123\r\n"), lines{"\"12345678901234567890123\""});
  EXPECT_EQ(decoded("!8\r\nERR both\r\n"), lines{"!ERR both"});
  EXPECT_EQ(decoded("=9\r\ntxt:words\r\n=4\r\nmkd:\r\n"), (lines{"\"words\"", "\"\""}));
  EXPECT_EQ(decoded("%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n"), lines{"[\"a\" 1 \"b\" 2]"});
  EXPECT_EQ(decoded("~2\r\n:1\r\n:2\r\n"), lines{"[1 2]"});
  EXPECT_EQ(decoded(">2\r\n+a\r\n:1\r\n"), lines{">[\"a\" 1]"});
  EXPECT_EQ(decoded("%0\r\n~0\r\n>0\r\n"), (lines{"[]", "[]", ">[]"}));
}

TEST(decoder, keeps_every_byte_of_a_text) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string bytes = "$256\r\n" + all + "\r\n";
  EXPECT_EQ(decoded(bytes), lines{"\"" + all + "\""});
  EXPECT_EQ(decoded("$4\r\n\r\n\r\n\r\n"), lines{"\"\r\n\r\n\""});
}

TEST(decoder, reads_the_smallest_and_largest_numbers) {
  EXPECT_EQ(decoded(":9223372036854775807\r\n"), lines{"9223372036854775807"});
  EXPECT_EQ(decoded(":-9223372036854775808\r\n"), lines{"-9223372036854775808"});
  EXPECT_EQ(decoded(":9223372036854775808\r\n"), malformed_at_once);
  EXPECT_EQ(decoded(":-9223372036854775809\r\n"), malformed_at_once);
}

TEST(decoder, drops_attributes_anywhere) {
  EXPECT_EQ(decoded("|1\r\n+ttl\r\n:7\r\n:1\r\n"), lines{"1"});
  EXPECT_EQ(decoded("|0\r\n:1\r\n"), lines{"1"});
  EXPECT_EQ(decoded("*2\r\n|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n"), lines{"[1 2]"});
  EXPECT_EQ(decoded("*1\r\n|0\r\n:1\r\n"), lines{"[1]"});
  EXPECT_EQ(decoded("|1\r\n|1\r\n+a\r\n+b\r\n+k\r\n*1\r\n:5\r\n:1\r\n"), lines{"1"}) << "one of an attribute";
}

TEST(decoder, separates_pushes_from_replies) {
  EXPECT_EQ(decoded("+OK\r\n>3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\nm\r\n:1\r\n"),
            (lines{"\"OK\"", ">[\"smessage\" \"c\" \"m\"]", "1"}));
}

TEST(decoder, gives_the_same_values_however_bytes_are_split) {
  const std::string bytes =
      "+OK\r\n-ERR a b\r\n:42\r\n$5\r\nhe\r\no\r\n$-1\r\n*3\r\n:1\r\n*2\r\n+a\r\n_\r\n$0\r\n\r\n"
      "%1\r\n#t\r\n,1.5\r\n|1\r\n+k\r\n+v\r\n~1\r\n(99\r\n>2\r\n=5\r\ntxt:x\r\n!3\r\nERR\r\n*0\r\n*-1\r\n";
  const lines whole = decoded(bytes);
  ASSERT_EQ(whole.size(), 11u);
  std::vector<std::string_view> single;
  for (std::size_t n = 0; n < bytes.size(); ++n) single.emplace_back(bytes.data() + n, 1);
  EXPECT_EQ(decoded(single), whole);
  const std::string_view all(bytes);
  for (std::size_t a = 0; a <= all.size(); ++a) {
    for (std::size_t b = a; b <= all.size(); ++b) {
      ASSERT_EQ(decoded({all.substr(0, a), all.substr(a, b - a), all.substr(b)}), whole) << a << ' ' << b;
    }
  }
}

TEST(decoder, waits_for_the_rest_of_an_incomplete_value) {
  const std::string bytes = "*2\r\n$3\r\nabc\r\n:17\r\n";
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(decoded(std::string_view(bytes).substr(0, n)), lines{}) << n;
  }
}

TEST(decoder, moves_each_byte_at_most_once) {
  const std::string push = ">3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$40\r\n" + std::string(40, 'x') + "\r\n";
  const std::string all = repeated(push, 100'000);
  for (const std::size_t piece : {all.size(), all.size() / 2 + 7, std::size_t{100'003}, std::size_t{16 * 1024}}) {
    decoder d;
    std::size_t got = 0;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      d.feed(std::string_view(all).substr(at, piece));
      while (d.next()) ++got;
    }
    EXPECT_EQ(got, 100'000u);
    EXPECT_LE(d.moved(), all.size()) << piece;
  }
}

TEST(decoder, rejects_malformed_input) {
  for (const std::string_view bad : {
           "hello\r\n", "\r\n",     "\n",        "+OK\n",         "x\r\n",      "?\r\n",          // lines and types
           ":\r\n",     ":a\r\n",   ":1a\r\n",   ":1 \r\n",       ": 1\r\n",    ":+\r\n",         // numbers
           ":-\r\n",    ":--1\r\n", ":1.5\r\n",  ":0x1\r\n",                                      //
           "$-2\r\n",   "$a\r\n",   "$\r\n",     "$1\r\nab\r",    "$1\r\na\rx", "$1\r\na\n\r\n",  // texts
           "$?\r\n",    "=-1\r\n",  "!-1\r\n",   "=3\r\ntxt\r",   "=0\r\n\r\n", "=5\r\ntxt-x\r\n",
           "_x\r\n",    "#\r\n",    "#true\r\n", "#x\r\n",                                  // nothing, and truth
           "*-2\r\n",   "*a\r\n",   "*?\r\n",    "%-1\r\n",       "~-2\r\n",    ">-1\r\n",  // lists
           "|-1\r\n",   "%a\r\n",   "*1\r\nx",   "*1\r\n*-2\r\n",
       }) {
    std::string bytes(bad);
    if (!bytes.ends_with('\n')) bytes += "\n\r\n";
    EXPECT_EQ(decoded(bytes), malformed_at_once) << bad;
  }
}

TEST(decoder, returns_the_values_before_an_error) {
  EXPECT_EQ(decoded("+a\r\n:1\r\nnonsense\r\n+b\r\n"), (lines{"\"a\"", "1", "malformed"}));
}

TEST(decoder, stays_broken_after_an_error) {
  decoder d;
  d.feed("nonsense\r\n");
  EXPECT_THROW((void)d.next(), malformed);
  EXPECT_THROW((void)d.next(), malformed);
  d.feed("+OK\r\n");
  EXPECT_THROW((void)d.next(), malformed);
}

TEST(decoder, limits_the_depth_of_lists) {
  const auto nested = [](std::size_t depth) { return repeated("*1\r\n", depth) + ":1\r\n"; };
  EXPECT_EQ(decoded(nested(decoder::deepest)), lines{std::string(8, '[') + "1" + std::string(8, ']')});
  EXPECT_EQ(decoded(nested(decoder::deepest + 1)), malformed_at_once);
  EXPECT_EQ(decoded(repeated("|1\r\n", decoder::deepest + 1)), malformed_at_once) << "attributes, too";
  EXPECT_EQ(decoded(repeated("*1\r\n", decoder::deepest) + "*0\r\n"), malformed_at_once) << "an empty one, too";
}

TEST(decoder, limits_the_items_of_a_reply) {
  const auto list = [](std::size_t count) { return "*" + std::to_string(count) + "\r\n" + repeated(":1\r\n", count); };
  decoder d;
  d.feed(list(decoder::most_items - 1));  // the list itself is one
  const auto v = d.next();
  ASSERT_TRUE(v);
  EXPECT_EQ(v->items.size(), decoder::most_items - 1);
  EXPECT_EQ(decoded(list(decoder::most_items)), malformed_at_once);
  for (const std::string_view type : {"*", "~", ">", "%", "|"}) {
    const std::string too_many = std::to_string(decoder::most_items + 1) + "\r\n";
    EXPECT_EQ(decoded(std::string(type) + too_many), malformed_at_once) << "before the first part: " << type;
    EXPECT_EQ(decoded(std::string(type) + "9223372036854775807\r\n"), malformed_at_once) << type;
  }
}

TEST(decoder, counts_the_items_of_each_reply_separately) {
  decoder d;
  d.feed(repeated(":1\r\n", decoder::most_items + 10));
  std::size_t count = 0;
  while (d.next()) ++count;
  EXPECT_EQ(count, decoder::most_items + 10);
}

TEST(decoder, limits_the_length_of_a_text) {
  decoder d;
  d.feed(text_of(decoder::longest_text));
  const auto v = d.next();
  ASSERT_TRUE(v);
  EXPECT_EQ(v->text.size(), decoder::longest_text);
  for (const char type : {'$', '=', '!'}) {
    const std::string header = type + std::to_string(decoder::longest_text + 1) + "\r\n";
    EXPECT_EQ(decoded(header), malformed_at_once) << "before its first byte: " << type;
  }
}

TEST(decoder, limits_the_bytes_of_a_reply) {
  const std::string one = text_of(decoder::longest_text);
  EXPECT_EQ(decoded("*3\r\n" + repeated(one, 3)).size(), 1u);
  EXPECT_NE(decoded("*3\r\n" + repeated(one, 3)), malformed_at_once);
  EXPECT_EQ(decoded("*6\r\n" + repeated(one, 6)), malformed_at_once);
  EXPECT_EQ(decoded(repeated(one, 6)).size(), 6u) << "of each reply by itself";
}

TEST(decoder, limits_the_length_of_an_unfinished_line) {
  EXPECT_EQ(decoded("+" + std::string(decoder::longest_text + 1, 'x')), malformed_at_once);
}

TEST(decoder, rejects_a_complete_line_that_is_too_long) {
  const auto line = [](std::size_t size) { return "+" + std::string(size, 'x') + "\r\n"; };
  EXPECT_EQ(decoded(line(decoder::longest_text)), malformed_at_once);
  const std::string longest = line(decoder::longest_text - 2);
  EXPECT_EQ(decoded(longest).front().size(), decoder::longest_text);
  EXPECT_EQ(decoded({std::string_view(longest).substr(0, longest.size() - 1), "\n"}), decoded(longest));
}

TEST(decoder, rejects_a_number_with_two_signs) {
  for (const std::string_view bad : {":+-1\r\n", ":++1\r\n", ":-+1\r\n", "$+-1\r\n", "*+-1\r\n"}) {
    EXPECT_EQ(decoded(bad), malformed_at_once) << bad;
  }
}

TEST(decoder, reads_many_replies_that_arrive_together) {
  std::string bytes;
  lines expected;
  for (int n = 0; n < 5'000; ++n) {
    bytes += ":" + std::to_string(n) + "\r\n";
    expected.push_back(std::to_string(n));
  }
  EXPECT_EQ(decoded(bytes), expected);
}

TEST(command, is_an_array_of_texts) {
  command c(3);
  c.add("SET").add("").add(std::string_view("a\0\r\n", 4));
  EXPECT_EQ(c.bytes(), std::string("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n", 29));
}

TEST(command, writes_numbers_in_decimal) {
  command c(4);
  c.add(0).add(-1).add(std::numeric_limits<std::int64_t>::max()).add(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(c.bytes(), "*4\r\n$1\r\n0\r\n$2\r\n-1\r\n$19\r\n9223372036854775807\r\n$20\r\n-9223372036854775808\r\n");
}

TEST(command, survives_a_round_trip_through_the_decoder) {
  command c(3);
  c.add("EVALSHA").add(7).add("two words\r\n");
  EXPECT_EQ(decoded(c.bytes()), lines{"[\"EVALSHA\" \"7\" \"two words\r\n\"]"});
}

TEST(command, knows_the_key_of_its_last_part) {
  command load(3), call(4), asking(1);
  load.add("SCRIPT").add("LOAD").add("text");
  call.add("EVALSHA").add("sha").add("1").key_follows().add("the key");
  asking.add("ASKING");
  EXPECT_EQ(load.key(), "");
  EXPECT_EQ(call.key(), "the key");
  const std::string alone = load.bytes();
  EXPECT_EQ(load.then(call).key(), "the key");
  const command asked = load.with_before_last(asking);
  EXPECT_EQ(asked.key(), "the key");
  EXPECT_EQ(asked.replies(), 3u);
  EXPECT_EQ(asked.bytes(), alone + asking.bytes() + call.bytes()) << "ASKING is for the next command only";
}

}  // namespace
}  // namespace holdfast::redis
