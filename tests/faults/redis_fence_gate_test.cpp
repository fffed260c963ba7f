// The gate for values in Redis, on a real server.
#include "holdfast/redis_fence_gate.hpp"

#include <gtest/gtest.h>

#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

using kind = redis::value::kind;

class redis_gate : public testing::Test {
 protected:
  redis::value eval(const std::string& script, std::vector<std::string> arguments) const {
    std::vector<std::string> words{"EVAL", script, "2", "{seat}", "{seat}:fence"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return server.ask(words);
  }
  [[nodiscard]] bool sets(const std::string& fence, const std::string& value) const {
    const redis::value answer = eval(redis_fence_gate::set(), {fence, value});
    EXPECT_TRUE(answer.is(kind::integer)) << answer.text;
    return answer.number == 1;
  }
  /// Returns nothing if the fence is refused.
  [[nodiscard]] std::optional<std::string> gets(const std::string& fence) const {
    const redis::value answer = eval(redis_fence_gate::get(), {fence});
    EXPECT_TRUE(answer.is(kind::list)) << answer.text;
    if (answer.items.size() != 2) return std::nullopt;
    EXPECT_EQ(answer.items[0].number, 1);
    return answer.items[1].is(kind::nil) ? "nil" : answer.items[1].text;
  }

  test::redis_server server;
};

TEST_F(redis_gate, rejects_the_late_write_of_an_overtaken_holder) {
  watched_client one(server.url()), other(server.url());
  lease paused = one.store.acquire("seat", {.ttl = 50ms, .renew = false});
  const std::string old_fence = std::to_string(paused.fence());
  EXPECT_TRUE(sets(old_fence, "Ada"));
  const lease next = other.store.acquire("seat");
  EXPECT_TRUE(sets(std::to_string(next.fence()), "Grace"));
  EXPECT_FALSE(sets(old_fence, "late"));
  EXPECT_EQ(gets(std::to_string(next.fence())), "Grace");
  EXPECT_EQ(server.ask({"GET", "{seat}"}).text, "Grace") << "the value is a plain string";
}

TEST_F(redis_gate, rejects_an_old_holder_after_a_newer_one_has_read) {
  EXPECT_EQ(gets("1"), "nil");
  EXPECT_EQ(gets("2"), "nil");
  EXPECT_FALSE(sets("1", "late"));
  EXPECT_FALSE(gets("1"));
  EXPECT_TRUE(sets("2", "in time"));
  EXPECT_EQ(gets("2"), "in time");
}

TEST_F(redis_gate, compares_fences_beyond_the_precision_of_lua_numbers) {
  EXPECT_TRUE(sets("9007199254740993", "higher"));
  EXPECT_FALSE(sets("9007199254740992", "lower"));
  EXPECT_FALSE(sets("999", "shorter"));
  EXPECT_TRUE(sets("18446744073709551615", "highest"));
  EXPECT_FALSE(sets("18446744073709551614", "lower"));
  EXPECT_EQ(server.ask({"GET", "{seat}"}).text, "highest");
}

TEST_F(redis_gate, deletes_when_no_value_is_given) {
  EXPECT_TRUE(sets("1", "a"));
  EXPECT_EQ(eval(redis_fence_gate::set(), {"2"}).number, 1);
  EXPECT_EQ(gets("2"), "nil");
  EXPECT_FALSE(sets("1", "late"));
  EXPECT_EQ(server.ask({"TTL", "{seat}:fence"}).number, -1) << "the gate has no end";
}

TEST_F(redis_gate, writes_nothing_for_an_invalid_fence) {
  for (const char* text : {"", "0", "01", "-1", "+1", "1 ", "1.0", "1e3", "x", "100000000000000000000"}) {
    EXPECT_TRUE(eval(redis_fence_gate::set(), {text, "a"}).is(kind::error)) << text;
    EXPECT_TRUE(eval(redis_fence_gate::get(), {text}).is(kind::error)) << text;
  }
  EXPECT_TRUE(server.keys().empty());
  (void)server.ask({"SET", "{seat}:fence", "spoilt"});
  EXPECT_TRUE(eval(redis_fence_gate::set(), {"1", "a"}).is(kind::error));
  EXPECT_EQ(server.keys(), std::vector<std::string>{"{seat}:fence"});
}

}  // namespace
}  // namespace holdfast::faults
