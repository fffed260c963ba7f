#include "redis/protocol/owner.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

const std::string inbox_text = "AbCdEfGhIjKlMn-_";

std::string hex(std::mt19937_64& random, std::size_t size) {
  std::string text;
  while (text.size() < size) text.push_back("0123456789abcdef"[random() % 16]);
  return text;
}

TEST(owner_text, has_inbox_claim_claim_ttl_and_label) {
  const std::string text = owner_text(inbox_text, {1, 2}, {}, 500ms, "web-1 (host)");
  EXPECT_EQ(text.substr(0, 17), inbox_text + ".");
  EXPECT_EQ(text.substr(17, 16), sixteen(1, 2));
  EXPECT_EQ(text.substr(33), "-500 web-1 (host)");
  EXPECT_EQ(owner_text(inbox_text, {1, 2}, {}, 500ms, ""), text.substr(0, 37));
}

TEST(owner_text, has_the_requested_share) {
  EXPECT_EQ(owner_text(inbox_text, {1, 2}, {}, 500ms, "").substr(33), "-500");
  const std::string reader = owner_text(inbox_text, {1, 2}, storage::share::reader(), 500ms, "");
  EXPECT_EQ(reader.substr(33), "+500");
  EXPECT_EQ(wants_in(reader), '+');
  const std::string permits = owner_text(inbox_text, {1, 2}, storage::share::permits(12, 40), 500ms, "x");
  EXPECT_EQ(permits.substr(33), ":12-500 x");
  EXPECT_EQ(wants_in(permits), ':');
  EXPECT_EQ(as_reader(owner_text(inbox_text, {1, 2}, {}, 500ms, "")), reader);
}

TEST(owner_text, can_be_read_back) {
  const storage::owner_id id = storage::owner_id::of(0x0123'4567'89ab'cdef, ~0ull);
  const std::string text = owner_text(inbox_text, id, storage::share::permits(12, 40), 500ms, "x y");
  const auto read = owner_reading::of(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->inbox, inbox_text);
  EXPECT_EQ(read->id, id) << "none of its bits may be lost";
  EXPECT_EQ(read->wants, ':');
  EXPECT_EQ(read->permits, 12u);
  EXPECT_EQ(read->label, "x y");
}

TEST(label_in, rejects_what_only_begins_like_ours) {
  const std::string ids = owner_text(inbox_text, {1, 2}, {}, 500ms, "").substr(0, 33);
  for (const std::string_view rest : {"", "-", "+", ":", ":8", ":8+5", ":-5", "-5x", "+5x", ":8-5x", "*5", "-+5"}) {
    EXPECT_FALSE(label_in(ids + std::string(rest))) << rest;
  }
}

TEST(owner_text, has_a_label_that_can_be_read_back) {
  for (const std::string_view label : {"x", "two words", " ", "-", "500 -", ".", "\n", "h\xc3\xa4user"}) {
    EXPECT_EQ(label_in(owner_text(inbox_text, {~0ull, ~0ull}, {}, 24h, label)), label);
    EXPECT_EQ(label_in(owner_text(inbox_text, {1, 2}, storage::share::reader(), 24h, label)), label);
    EXPECT_EQ(label_in(owner_text(inbox_text, {1, 2}, storage::share::permits(8, 9), 24h, label)), label);
  }
  EXPECT_EQ(label_in(owner_text(inbox_text, {}, {}, 10ms, "")), "");
}

TEST(sixteen, is_unique_for_every_96_bits) {
  std::set<std::string> seen;
  for (unsigned bit = 0; bit < 48; ++bit) {
    seen.insert(sixteen(1ull << bit, 0));
    seen.insert(sixteen(0, 1ull << bit));
  }
  seen.insert(sixteen(0, 0));
  EXPECT_EQ(seen.size(), 97u);
  for (const std::string& text : seen) EXPECT_EQ(text.size(), 16u);
}

TEST(sixteen, has_no_special_characters) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 1'000; ++n) {
    const std::string text = sixteen(random(), random());
    EXPECT_EQ(text.find_first_of(". {}:%\r\n"), std::string::npos) << text;
  }
}

TEST(label_in, rejects_tokens_of_other_libraries) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 2'000; ++n) {
    const std::string h = hex(random, 80);
    const std::string uuid =
        h.substr(0, 8) + '-' + h.substr(8, 4) + '-' + h.substr(12, 4) + '-' + h.substr(16, 4) + '-' + h.substr(20, 12);
    for (const std::string& token : {
             h.substr(0, 16),
             h.substr(0, 32),
             h.substr(0, 40),
             h.substr(0, 64),                                  // random bytes in hex
             uuid,                                             // redis-py, node-redlock
             uuid + ":" + std::to_string(random() % 100'000),  // Redisson: the client and the thread
             h.substr(0, 22) + "==",                           // redsync: base64
             std::string("1"),
             std::to_string(random()),
             std::string("host-1.example.org:4711:worker-17:0123456789"),
         }) {
      EXPECT_FALSE(label_in(token)) << token;
    }
  }
}

TEST(label_in, requires_the_complete_form) {
  const std::string good = owner_text(inbox_text, {7, 8}, {}, 500ms, "");
  ASSERT_TRUE(label_in(good));
  EXPECT_FALSE(label_in(""));
  for (std::size_t n = 0; n < 35; ++n) EXPECT_FALSE(label_in(std::string_view(good).substr(0, n))) << n;
  for (std::size_t n = 0; n < good.size(); ++n) {
    std::string bad = good;
    bad[n] = '/';
    EXPECT_FALSE(label_in(bad)) << bad;
  }
  EXPECT_FALSE(label_in(good + "x")) << "what follows the ttl is a blank";
  EXPECT_FALSE(label_in(" " + good));
}

}  // namespace
}  // namespace holdfast::redis
