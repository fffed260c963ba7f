#include "directory/inbox.hpp"

#include <gtest/gtest.h>

#include <random>

namespace holdfast::directory {
namespace {

revoke_message example() {
  revoke_message text{.fence = 7, .reason = "because", .owners = {}};
  text.owners.resize(3);
  text.owners[2] = {'x', 'y'};
  return text;
}

TEST(revoke_messages, are_read_as_they_were_written) {
  const std::optional<revoke_message> read = revoke_message::parse(example().packed());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fence, 7u);
  EXPECT_EQ(read->reason, "because");
  EXPECT_EQ(read->owners, example().owners);
}

TEST(revoke_messages, say_whether_the_lock_was_broken) {
  revoke_message text = example();
  EXPECT_FALSE(revoke_message::parse(text.packed())->broken);
  text.broken = true;
  const std::optional<revoke_message> read = revoke_message::parse(text.packed());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->broken);
  EXPECT_EQ(read->owners, example().owners);
}

TEST(revoke_messages, may_have_the_maximum_length) {
  revoke_message text{.reason = std::string(revoke_message::longest_reason, 'r'), .owners = {}};
  text.owners.resize(revoke_message::most_owners);
  EXPECT_EQ(text.packed().size(), revoke_message::longest);
  EXPECT_TRUE(revoke_message::parse(text.packed()));
}

TEST(revoke_messages, are_never_parsed_as_a_message) {
  revoke_message text;
  text.owners.resize(1);
  EXPECT_GT(text.packed().size(), sizeof(message));
  message m;
  EXPECT_FALSE(revoke_message::parse({reinterpret_cast<const char*>(&m), sizeof m}));
}

TEST(revoke_messages, are_rejected_when_truncated_or_invalid) {
  const std::string whole = example().packed();
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(revoke_message::parse(std::string_view(whole).substr(0, n))) << n;
  EXPECT_FALSE(revoke_message::parse(whole + "x"));
  std::mt19937 random(1);
  for (int n = 0; n < 10'000; ++n) {
    std::string bad = whole;
    bad[random() % sizeof(revoke_message::head)] = static_cast<char>(random());
    if (const auto read = revoke_message::parse(bad)) {
      EXPECT_EQ(read->reason.size() + read->owners.size() * sizeof(owner_bytes) + sizeof(revoke_message::head),
                bad.size());
    }
  }
}

}  // namespace
}  // namespace holdfast::directory
