#include "directory/letter.hpp"

#include <gtest/gtest.h>

#include <random>

namespace holdfast::directory {
namespace {

letter some() {
  letter l{.fence = 7, .reason = "because", .owners = {}};
  l.owners.resize(3);
  l.owners[2] = {'x', 'y'};
  return l;
}

TEST(letter, is_read_as_it_was_written) {
  const std::optional<letter> read = letter::parse(some().packed());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fence, 7u);
  EXPECT_EQ(read->reason, "because");
  EXPECT_EQ(read->owners, some().owners);
}

TEST(letter, of_what_was_taken_is_told_from_one_that_asks) {
  letter l = some();
  EXPECT_FALSE(letter::parse(l.packed())->taken);
  l.taken = true;
  const std::optional<letter> read = letter::parse(l.packed());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->taken);
  EXPECT_EQ(read->owners, some().owners);
}

TEST(letter, may_be_as_long_as_it_may_be) {
  letter l{.reason = std::string(letter::longest_reason, 'r'), .owners = {}};
  l.owners.resize(letter::most_owners);
  EXPECT_EQ(l.packed().size(), letter::longest);
  EXPECT_TRUE(letter::parse(l.packed()));
}

TEST(letter, is_never_taken_for_a_message) {
  letter l;
  l.owners.resize(1);
  EXPECT_GT(l.packed().size(), sizeof(message));
  message m;
  EXPECT_FALSE(letter::parse({reinterpret_cast<const char*>(&m), sizeof m}));
}

TEST(letter, that_is_cut_or_made_up_is_none) {
  const std::string whole = some().packed();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(letter::parse(std::string_view(whole).substr(0, n))) << n;
  EXPECT_FALSE(letter::parse(whole + "x"));
  std::mt19937 random(1);
  for (int n = 0; n < 10'000; ++n) {
    std::string bad = whole;
    bad[random() % sizeof(letter::head)] = static_cast<char>(random());
    if (const auto read = letter::parse(bad)) {
      EXPECT_EQ(read->reason.size() + read->owners.size() * sizeof(owner_bytes) + sizeof(letter::head), bad.size());
    }
  }
}

}  // namespace
}  // namespace holdfast::directory
