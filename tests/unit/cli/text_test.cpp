#include <gtest/gtest.h>

#include "text/table.hpp"
#include "text/utf8.hpp"
#include "text/words.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(utf8, validates_characters) {
  EXPECT_TRUE(is_utf8("plain, ä, 漢, 🔒"));
  EXPECT_EQ(first_character("🔒").code, 0x1f512U);
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_EQ(first_character(bad).bytes, 1U);
  }
}

TEST(printable, keeps_visible_characters) { EXPECT_EQ(printable("job/a b ä 漢 🔒"), "job/a b ä 漢 🔒"); }

TEST(printable, escapes_control_characters_and_invalid_bytes) {
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");             // CSI as one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");    // changes the direction of text
  EXPECT_EQ(printable("\xe2\x80\xa8x"), "\\xe2\\x80\\xa8x");  // a line separator
  EXPECT_EQ(printable("\xff\xc3 \xc3\xa4"), "\\xff\\xc3 \xc3\xa4");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(printable, keeps_different_names_different) { EXPECT_EQ(printable("a\\nb"), "a\\\\nb"); }

TEST(columns, are_two_for_wide_characters_and_none_for_marks) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("ä"), 1U);
  EXPECT_EQ(columns_of("a\xcc\x88"), 1U);
  EXPECT_EQ(columns_of("漢字"), 4U);
  EXPECT_EQ(columns_of("🔒"), 2U);
}

TEST(columns, cut_does_not_split_a_character) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abcde…");
  EXPECT_EQ(cut("漢字漢", 6), "漢字漢");
  EXPECT_EQ(cut("漢字漢", 5), "漢字…");
  EXPECT_EQ(cut("漢字漢", 4), "漢…");  // no room for a wide character
  EXPECT_EQ(cut("ab", 1), "…");
  EXPECT_EQ(cut("ab", 0), "");
}

TEST(columns, padding_adds_spaces) {
  EXPECT_EQ(pad_right("漢", 4), "漢  ");
  EXPECT_EQ(pad_left("7", 3), "  7");
  EXPECT_EQ(pad_left("1234", 3), "1234");
}

TEST(brief, has_at_most_two_units_and_six_columns) {
  EXPECT_EQ(brief(-5s), "0ms");
  EXPECT_EQ(brief(250ms), "250ms");
  EXPECT_EQ(brief(59'999ms), "59s");
  EXPECT_EQ(brief(3min + 12s), "3m12s");
  EXPECT_EQ(brief(3min + 2s), "3m02s");
  EXPECT_EQ(brief(2h + 5min + 59s), "2h05m");
  EXPECT_EQ(brief(99h), "4d03h");
  EXPECT_EQ(brief(123 * 24h), "123d");
}

TEST(age_of, is_zero_for_the_future) {
  const std::chrono::system_clock::time_point now(100s);
  EXPECT_EQ(age_of(now - 3s, now), 3s);
  EXPECT_EQ(age_of(now + 3s, now), 0s);
}

table of_three(std::optional<std::size_t> width) {
  return table({{.title = "NAME", .width = 6, .grows = true, .needed = 3},
                {.title = "N", .width = 3, .to_right = true, .needed = 1},
                {.title = "WHO", .width = 4, .grows = true, .needed = 2}},
               width);
}

TEST(table, aligns_and_does_not_cut_without_a_width) {
  const table t = of_three({});
  EXPECT_EQ(t.header(), "NAME     N WHO");
  EXPECT_EQ(t.row({"a", "1", "x"}), "a        1 x");
  EXPECT_EQ(t.row({"a long name", "12345", "somebody"}), "a long name 12345 somebody");
}

TEST(table, fills_the_width_exactly) {
  const table t = of_three(20);  // five columns remain: two and three
  EXPECT_EQ(t.row({"a", "1", "x"}), "a          1 x");
  EXPECT_EQ(t.row({"0123456789", "12345", "somebody"}), "0123456… 12… somebo…");
  EXPECT_EQ(columns_of(t.row({"0123456789", "12345", "somebodyelse"})), 20U);
}

TEST(table, drops_the_least_needed_columns_first) {
  EXPECT_EQ(of_three(14).row({"abc", "1", "x"}), "abc     x");
  EXPECT_EQ(of_three(10).row({"abcdefghijkl", "1", "x"}), "abcdefghi…");
  EXPECT_EQ(of_three(3).row({"abcdefghijkl", "1", "x"}), "ab…");
  EXPECT_EQ(of_three(0).row({"abcdefghijkl", "1", "x"}), "");
}

}  // namespace
}  // namespace holdfast::cli
