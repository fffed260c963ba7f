#include "text/words.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

TEST(shell_word, is_one_word_for_any_text) {
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(shell_words, are_quoted_if_needed) {
  EXPECT_EQ(shell_words({"cat", "a b", "it's", ""}), "cat 'a b' 'it'\\''s' ''");
  EXPECT_EQ(shell_words({"--store", "redis://h:1/0?a=b", "~", "$x"}), "--store 'redis://h:1/0?a=b' '~' '$x'");
}

}  // namespace
}  // namespace holdfast::cli
