#include "redis/protocol/keys.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

/// The slot of a key, as the specification of a cluster says it: CRC-16/XMODEM bit by bit, of what stands between the
/// first { and the first } after it, or of all of the key.
unsigned slot_of(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) key = key.substr(open + 1, close - open - 1);
  }
  unsigned crc = 0;
  for (const char c : key) {
    for (int bit = 7; bit >= 0; --bit) {
      const unsigned in = (static_cast<unsigned char>(c) >> bit) & 1u;
      const unsigned out = (crc >> 15) & 1u;
      crc = (crc << 1) & 0xffffu;
      if ((in ^ out) != 0) crc ^= 0x1021u;
    }
  }
  return crc % 16384;
}

/// Awkward ones, and many made of the characters that matter.
std::vector<std::string> awkward_names() {
  std::vector<std::string> all = {"a",     "{a}",   "a}",     "}a",     "a{",   "{a",    "}{",     "{}",   "{}x",
                                  "x{}",   "{}{a}", "{a}{b}", "{",      "}",    "{{a}}", "a{b}c",  "a}b{", "a{}b",
                                  "}{a}",  "}{}",   "a:q",    "a:f",    "a;q",  "a!q",   "%",      "%7B",  "%25",
                                  "{a}:q", "{a};",  "a b",    "a\nb",   "\x7f", "a/b",   "/",      "a\tb", "\xff\xfe",
                                  "ZnTi",  "a%20b", "a%2520", "{a%7D}", "0}",   "1}",    "q",      "f",    "{q}f",
                                  "a:",    ":a",    "\x01",   "user",   "{us}", "train", "tr{ai}n"};
  std::mt19937 random(7);
  constexpr std::string_view pieces = "{}ab:;!%qf0 ";
  for (int n = 0; n < 200; ++n) {
    std::string name;
    for (std::size_t left = 1 + random() % 8; left != 0; --left) name.push_back(pieces[random() % pieces.size()]);
    all.push_back(std::move(name));
  }
  return all;
}

void expect_one_slot(std::string_view prefix, const std::string& name) {
  const keys k(prefix, name);
  EXPECT_EQ(slot_of(k.queue), slot_of(k.lock)) << name << ": " << k.lock << ' ' << k.queue;
  EXPECT_EQ(slot_of(k.fence), slot_of(k.lock)) << name << ": " << k.lock << ' ' << k.fence;
}

/// No key belongs to two names, nor twice to one.
void expect_injective(std::string_view prefix) {
  std::map<std::string, std::string> whose;
  for (const std::string& name : awkward_names()) {
    const keys k(prefix, name);
    const std::vector<std::string_view> mine = {k.lock, k.queue, k.fence};
    for (std::size_t n = 0; n < mine.size(); ++n) {
      const std::string who = name + '\0' + std::to_string(n);
      const auto [at, fresh] = whose.emplace(mine[n], who);
      EXPECT_EQ(at->second, who) << mine[n];
    }
  }
}

TEST(keys, hash_to_the_slots_of_a_cluster) {
  // What Redis says to CLUSTER KEYSLOT.
  EXPECT_EQ(slot_of("123456789"), 12739u);
  EXPECT_EQ(slot_of("foo"), 12182u);
  EXPECT_EQ(slot_of("{foo}.bar"), 12182u);
  EXPECT_EQ(slot_of("{}foo"), slot_of("{}foo"));
  EXPECT_NE(slot_of("{}foo"), slot_of("foo"));
}

TEST(keys, of_a_name_are_readable) {
  const keys k("holdfast:", "train/001");
  EXPECT_EQ(k.lock, "holdfast:{train/001}");
  EXPECT_EQ(k.queue, "holdfast:{train/001}:q");
  EXPECT_EQ(k.fence, "holdfast:{train/001}:f");
}

TEST(keys, encode_braces_and_control_characters) {
  EXPECT_EQ(keys("p:", "a{b}c").lock, "p:{a%7Bb%7Dc}");
  EXPECT_EQ(keys("p:", "100%").lock, "p:{100%25}");
  EXPECT_EQ(keys("p:", "a b\r\n\x7f").lock, "p:{a%20b%0D%0A%7F}");
  EXPECT_EQ(keys("p:", "h\xc3\xa4user").lock, "p:{h\xc3\xa4user}") << "other languages stay as they are";
}

TEST(keys, of_a_name_lie_in_one_slot) {
  for (const std::string& name : awkward_names()) expect_one_slot("holdfast:", name);
}

TEST(keys, belong_to_one_name_only) { expect_injective("holdfast:"); }

TEST(keys, without_a_prefix_are_the_name_and_keys_in_its_slot) {
  EXPECT_EQ(keys("", "a").lock, "a");
  EXPECT_EQ(keys("", "a").queue, "holdfast:{a}:q");
  EXPECT_EQ(keys("", "{a}").queue, "holdfast:{a};q") << "not that of a";
  for (const std::string& name : awkward_names()) {
    EXPECT_EQ(keys("", name).lock, name);
    expect_one_slot("", name);
  }
}

TEST(keys, without_a_prefix_belong_to_one_name_only) { expect_injective(""); }

// Or the fence of one name would be written over the lock of another.
TEST(keys, without_a_prefix_never_equal_another_name) {
  for (const std::string& name : awkward_names()) {
    EXPECT_TRUE(keys::may_be("", name)) << name;
    EXPECT_FALSE(keys::may_be("", keys("", name).queue)) << name;
    EXPECT_FALSE(keys::may_be("", keys("", name).fence)) << name;
    EXPECT_TRUE(keys::may_be("holdfast:", keys("", name).fence)) << "with one they are encoded";
  }
}

TEST(keys, are_found_again_from_the_lock_itself) {
  for (const std::string_view prefix : {"holdfast:", "", "other:"}) {
    for (const std::string& name : awkward_names()) {
      const keys k(prefix, name);
      const keys again = keys::of_lock(prefix, k.lock);
      EXPECT_EQ(again.lock, k.lock);
      EXPECT_EQ(again.queue, k.queue);
      EXPECT_EQ(again.fence, k.fence);
    }
  }
}

TEST(keys, of_a_cell_are_distinct_and_in_the_slot_of_the_lock) {
  for (const std::string_view prefix : {"holdfast:", "", "other:"}) {
    for (const std::string& name : awkward_names()) {
      const keys k(prefix, name);
      const cell_keys c(prefix, name);
      for (const std::string_view other : {k.lock, k.queue, k.fence, k.holders}) {
        EXPECT_NE(c.number, other);
        EXPECT_NE(c.watchers, other);
      }
      EXPECT_NE(c.number, c.watchers);
      EXPECT_EQ(slot_of(c.number), slot_of(k.lock)) << name << ": " << c.number;
      EXPECT_EQ(slot_of(c.watchers), slot_of(k.lock)) << name << ": " << c.watchers;
      if (prefix.empty()) {
        EXPECT_FALSE(keys::may_be(prefix, c.number)) << "it could be the name of a lock";
      }
    }
  }
}

TEST(keys, of_other_prefixes_differ) {
  EXPECT_NE(lock_key("a:", "x"), lock_key("b:", "x"));
  EXPECT_NE(inboxes("a:"), inboxes("b:"));
  EXPECT_EQ(inboxes("a:"), "a:in:");
  EXPECT_EQ(inboxes(""), "holdfast:in:");
}

TEST(keys, reveal_the_name_of_their_lock) {
  for (const std::string& name : awkward_names()) {
    const keys k("shop:", name);
    EXPECT_EQ(name_in("shop:", k.lock), name);
    EXPECT_EQ(name_in("shop:", k.queue), name);
    const cell_keys cell("shop:", name);
    for (const std::string_view other : {k.fence, k.holders, k.asked, k.broken, std::string_view(cell.number)}) {
      EXPECT_FALSE(name_in("shop:", other)) << other;
    }
    EXPECT_EQ(name_in("", lock_key("", name)), name);
    EXPECT_FALSE(name_in("", keys("", name).queue));
  }
  for (const char* const none : {"", "shop:", "shop:{", "shop:{a", "shop:a}", "other:{a}", "shop:{%}", "shop:{%4}",
                                 "shop:{%41}", "shop:{%7b}", "shop:{%zz}", "shop:{a}:x", "shop:client:x"}) {
    EXPECT_FALSE(name_in("shop:", none)) << none;
  }
}

TEST(keys, match_a_pattern_that_escapes_the_name) {
  EXPECT_EQ(pattern_of_locks("shop:", ""), "shop:{*[}q]");
  EXPECT_EQ(pattern_of_locks("shop:", "a b"), "shop:{a%20b*[}q]");
  EXPECT_EQ(pattern_of_locks("s*p:", "a*?[x]\\"), R"(s\*p:{a\*\?\[x\]\\*[}q])");
  EXPECT_EQ(pattern_of_locks("", "a*"), R"(a\**)");
}

}  // namespace
}  // namespace holdfast::redis
