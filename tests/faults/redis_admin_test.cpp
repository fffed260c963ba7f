// Operators inspect and change locks on a real Redis that also has keys of other programs and of dead clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "faults/redis_store.hpp"
#include "redis/protocol/script.hpp"

namespace holdfast::faults {
namespace {

class redis_admin : public testing::Test {
 protected:
  [[nodiscard]] static std::vector<std::string> names(const store& s) {
    std::vector<std::string> all;
    std::string after;
    do {
      const listing page = s.list("", after);
      for (const listing::entry& each : page.names) all.push_back(each.name);
      after = page.next;
    } while (!after.empty());
    std::sort(all.begin(), all.end());
    return all;
  }
  /// An owner whose client does not exist; '+' makes it a reader.
  [[nodiscard]] static std::string dead_owner(int n, char wants = '-') {
    std::string id = std::to_string(1'000'000'000 + n);
    return "AbCdEfGhIjKlMn-_.QQQQQQ" + id + wants + "500 dead";
  }
  /// Returns a number from INFO, or 0 if INFO does not contain it.
  [[nodiscard]] long long info(const std::string& section, const std::string& what) const {
    const std::string all = server.ask({"INFO", section}).text;
    const std::size_t at = all.find(what);
    return at == std::string::npos ? 0 : std::stoll(all.substr(at + what.size()));
  }
  [[nodiscard]] long long steps() const { return info("commandstats", "cmdstat_evalsha:calls="); }
  /// Adds this many readers of processes that no longer exist.
  void let_in_readers(const std::string& holders, int many) const {
    for (int n = 0; n < many; ++n) server.ask({"ZADD", holders, "4000000000000", dead_owner(n, '+')});
  }
  using these = std::vector<std::string>;
  test::redis_server server;
};

TEST_F(redis_admin, leaves_the_lock_of_another_library_alone) {
  watched_client one(server.url());
  server.ask({"SET", "holdfast:{a}", "a token", "NX", "PX", "60000"});
  EXPECT_EQ(failure_of([&] { (void)one.store.break_lock("a", 17, "it hangs"); }).first, errc::foreign);
  EXPECT_EQ(server.ask({"GET", "holdfast:{a}"}).text, "a token");
  EXPECT_EQ(names(one.store), these{"a"});
}

TEST_F(redis_admin, ignores_keys_that_are_not_locks) {
  watched_client one(server.url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  server.ask({"HSET", "holdfast:{b}", "field", "value"});
  server.ask({"SET", "holdfast:{c}:q", "not a queue"});
  EXPECT_EQ(names(one.store), these{"a"});
  EXPECT_EQ(failure_of([&] { (void)one.store.inspect("b"); }).first, errc::foreign);
}

TEST_F(redis_admin, lists_a_lock_with_waiters_and_no_holder) {
  watched_client one(server.url());
  server.ask({"ZADD", "holdfast:{a b}:q", "1", dead_owner(1)});
  EXPECT_EQ(names(one.store), these{}) << "this is not the way in which we encode names";
  server.ask({"ZADD", "holdfast:{a%20b}:q", "1", dead_owner(1)});
  EXPECT_EQ(names(one.store), these{"a b"});
}

TEST_F(redis_admin, lists_our_locks_among_other_strings_without_a_prefix) {
  watched_client one(server.url("prefix=")), other(server.url("prefix="));
  for (int n = 0; n < 500; ++n) server.ask({"SET", "page:" + std::to_string(n), "cached"});
  server.ask({"SET", "long", std::string(3'000'000, 'x')});
  server.ask({"LPUSH", "jobs", "one"});
  const lease held = one.store.acquire("orders", {.ttl = 1h});
  EXPECT_EQ(names(other.store), these{"orders"});
  server.ask({"SET", "invoices", "a token", "NX", "PX", "60000"});
  auto waiting = one.wait_for("invoices");
  EXPECT_EQ(names(other.store), (these{"invoices", "orders"})) << "one of us waits for it";
  EXPECT_EQ(other.store.list("inv").names.size() + other.store.list("none").names.size(), 1u);
  server.ask({"DEL", "invoices"});
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_F(redis_admin, hands_a_broken_lock_past_hundreds_of_dead_waiters) {
  watched_client one(server.url()), other(server.url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  for (int n = 0; n < 300; ++n) server.ask({"ZADD", "holdfast:{a}:q", std::to_string(n + 1), dead_owner(n)});
  auto waiting = other.wait_for("a", {.ttl = 1h});
  EXPECT_TRUE(one.store.break_lock("a", held.fence(), "it hangs"));
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_EQ(one.store.inspect("a").waiting, 0u);
}

TEST_F(redis_admin, keeps_the_break_record_for_a_day) {
  watched_client one(server.url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(one.store.break_lock("a", held.fence(), "it hangs"));
  const std::int64_t left = server.ask({"PTTL", "holdfast:{a}:b"}).number;
  EXPECT_GT(left, 86'000'000);
  EXPECT_LE(left, 86'400'000);
}

TEST_F(redis_admin, never_reads_a_foreign_value_completely) {
  watched_client one(server.url("prefix="));
  server.ask({"SETRANGE", "long", "32000000", "x"});
  const long long before = info("memory", "used_memory_peak:");
  EXPECT_EQ(names(one.store), these{});
  EXPECT_EQ(one.store.inspect("long").holders.size(), 1u) << "this key belongs to another program";
  EXPECT_LT(info("memory", "used_memory_peak:"), before + 16'000'000) << "the server has copied it";
}

TEST_F(redis_admin, knows_the_fence_of_a_lock_held_for_more_than_a_day) {
  watched_client one(server.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  lease several = one.store.acquire({"b", "c"}, {.ttl = 1h});
  for (const char* fence : {"holdfast:{a}:f", "holdfast:{b}:f", "holdfast:{c}:f"}) {
    server.ask({"PEXPIRE", fence, "3000000"});  // as it is after most of a day
  }
  EXPECT_TRUE(held.renew(20h));
  EXPECT_TRUE(several.renew(20h));
  for (const char* fence : {"holdfast:{a}:f", "holdfast:{b}:f", "holdfast:{c}:f"}) {
    EXPECT_GT(server.ask({"PTTL", fence}).number, 72'000'000) << fence << " ends before what is held";
  }
  const std::int64_t ends = server.ask({"PEXPIRETIME", "holdfast:{a}:f"}).number;
  EXPECT_TRUE(held.renew(1h));
  EXPECT_EQ(server.ask({"PEXPIRETIME", "holdfast:{a}:f"}).number, ends) << "most renewals leave it alone";
  EXPECT_TRUE(one.store.break_lock("a", held.fence(), "it hangs"));
}

TEST_F(redis_admin, breaks_a_lock_of_many_readers_in_small_steps) {
  watched_client one(server.url()), other(server.url());
  shared_mutex in(one.store, "a", {.ttl = 1h});
  in.lock_shared();
  let_in_readers("holdfast:{a}:h", 1300);
  auto waiting = other.wait_for("a", {.ttl = 1h});
  const long long before = steps();
  EXPECT_TRUE(one.store.break_lock("a", in.current().fence(), "they hang"));
  EXPECT_GE(steps() - before, 6) << "1301 lose it, 256 in a step";
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_TRUE(server.keys("holdfast:{a}:h").empty());
}

TEST_F(redis_admin, revokes_a_lock_of_many_readers_in_small_steps) {
  watched_client one(server.url());
  shared_mutex in(one.store, "a", {.ttl = 1h});
  in.lock_shared();
  let_in_readers("holdfast:{a}:h", 1300);
  const long long before = steps();
  EXPECT_TRUE(one.store.revoke("a", "please"));
  EXPECT_GE(steps() - before, 4) << "some hundreds in a step";
  EXPECT_EQ(server.ask({"ZCARD", "holdfast:{a}:a"}).number, 1303) << "all of them, the reason, and who asks";
  EXPECT_EQ(server.ask({"ZRANGE", "holdfast:{a}:a", "0", "0"}).items.at(0).text, " please");
  EXPECT_TRUE(one.store.revoke("a", "again"));
  EXPECT_EQ(server.ask({"ZCARD", "holdfast:{a}:a"}).number, 1303);
  EXPECT_EQ(server.ask({"ZRANGE", "holdfast:{a}:a", "0", "0"}).items.at(0).text, " again");
}

TEST_F(redis_admin, lists_over_a_slow_connection_beyond_its_patience) {
  fault_proxy proxy(server.socket());
  watched_client one(server.url()), far("redis+unix://" + proxy.socket(), 1s);
  const lease held = one.store.acquire({"a", "b", "c"}, {.ttl = 1h});
  server.ask({"EVAL", "for n = 1, 15000 do redis.call('SET', 'page:' .. n, 'cached') end", "0"});
  proxy.delay(fault_proxy::way::to_client, 20ms);  // a hundred steps and more take two seconds
  EXPECT_EQ(names(far.store), (these{"a", "b", "c"}));
}

TEST_F(redis_admin, ends_a_broken_lease_that_a_late_poll_reacquired) {
  watched_client one(server.url()), other(server.url());
  lease broken = one.store.acquire("a", {.ttl = 1h});
  const std::string owner = server.ask({"GET", "holdfast:{a}"}).text;
  ASSERT_TRUE(other.store.break_lock("a", broken.fence(), "it hangs"));
  EXPECT_EQ(other.store.acquire("a").release(), released::yes);
  const redis::script& poll = redis::scripts::acquire;  // sent long before, and given up
  server.ask({"SCRIPT", "LOAD", std::string(poll.text)});
  server.ask({"EVALSHA", std::string(poll.sha), "4", "holdfast:{a}", "holdfast:{a}:q", "holdfast:{a}:f",
              "holdfast:{a}:h", owner, "3600000", "holdfast:in:", ""});
  ASSERT_EQ(server.ask({"GET", "holdfast:{a}"}).text, owner);
  EXPECT_FALSE(broken.renew(1h)) << "its fence is lower than that of the holder in between";
  EXPECT_TRUE(other.store.try_acquire("a")) << "it was released";
}

TEST_F(redis_admin, ends_a_broken_lease_of_two_names_after_a_late_poll) {
  watched_client one(server.url()), other(server.url());
  lease broken = one.store.acquire({"a", "b"}, {.ttl = 1h});
  const std::string owner_of_a = server.ask({"GET", "holdfast:{a}"}).text;
  const std::string owner_of_b = server.ask({"GET", "holdfast:{b}"}).text;
  ASSERT_TRUE(other.store.break_lock("a", broken.fence("a"), "it hangs"));
  EXPECT_EQ(other.store.acquire("a").release(), released::yes);
  const redis::script& poll = redis::scripts::acquire_all;
  server.ask({"SCRIPT", "LOAD", std::string(poll.text)});
  server.ask({"EVALSHA", std::string(poll.sha), "6", "holdfast:{a}", "holdfast:{a}:q", "holdfast:{a}:f", "holdfast:{b}",
              "holdfast:{b}:q", "holdfast:{b}:f", "3600000", owner_of_a, owner_of_b});
  ASSERT_EQ(server.ask({"GET", "holdfast:{a}"}).text, owner_of_a);
  EXPECT_FALSE(broken.renew(1h)) << "its fence of a is lower than that of the holder in between";
  EXPECT_EQ(broken.release(), released::lost);
  EXPECT_TRUE(other.store.try_acquire({"a", "b"}, within(test::hang))) << "both were released";
}

}  // namespace
}  // namespace holdfast::faults
