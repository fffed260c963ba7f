// Grants that replicas must have, with all replicas, some paused or too few of them; and their cost.
#include <gtest/gtest.h>

#include <shared_mutex>

#include "faults/failover.hpp"
#include "faults/redis_store.hpp"
#include "support/redis_group.hpp"

namespace holdfast::faults {
namespace {

using test::redis_group;

class redis_replicas : public testing::Test {
 protected:
  redis_replicas() : all({.sentinels = 0}) {}
  ~redis_replicas() override {
    for (std::size_t n = 1; n < 3; ++n) all.server(n).go_on();
  }
  redis_group all;

  /// The URL of the primary. A busy machine needs the default limit; tests that miss it pass a short one.
  [[nodiscard]] std::string url(const std::string& wait, const std::string& limit = "10s") {
    return all.server(0).url("timeout=20s&wait_timeout=" + limit + "&" + wait);
  }
  /// Returns the number of calls of this command at the primary.
  [[nodiscard]] std::int64_t calls(const std::string& command) {
    const std::string text = all.server(0).ask({"INFO", "commandstats"}).text;
    const std::string mark = "cmdstat_" + command + ":calls=";
    const std::size_t at = text.find(mark);
    return at == std::string::npos ? 0 : std::stoll(text.substr(at + mark.size()));
  }
  [[nodiscard]] bool is_free(const std::string& name) {
    return test::eventually([&] { return all.server(0).keys("holdfast:{" + name + "}").empty(); });
  }
};

TEST_F(redis_replicas, have_a_lock_before_its_holder) {
  for (const std::string wait : {"wait_replicas=2", "wait_replicas=all"}) {
    watched_client one(url(wait), failover_patience);
    for (int n = 0; n < 50; ++n) {
      const std::string name = wait + "/" + std::to_string(n);
      const lease held = one.store.acquire(name);
      for (std::size_t replica = 1; replica < 3; ++replica) {
        EXPECT_EQ(all.server(replica).keys("holdfast:{" + name + "}").size(), 1u) << name;
      }
    }
  }
}

TEST_F(redis_replicas, may_be_paused_if_fewer_are_required) {
  watched_client number(url("wait_replicas=1"), failover_patience),
      majority(url("wait_replicas=majority"), failover_patience);
  EXPECT_TRUE(majority.store.try_acquire("warm", within(test::hang)));  // it has counted two
  all.server(1).stop();
  EXPECT_TRUE(number.store.try_acquire("a", within(test::hang)));
  EXPECT_TRUE(majority.store.try_acquire("b", within(test::hang)));
}

TEST_F(redis_replicas, fail_and_release_the_lock_if_required_ones_are_paused) {
  watched_client two(url("wait_replicas=2", "200ms"), 2s), every(url("wait_replicas=all", "200ms"), 2s);
  {
    const lease warm = every.store.acquire("warm");  // it has counted two
  }
  all.server(1).stop();
  for (watched_client* each : {&two, &every}) {
    const auto [why, text] = failure_of([&] { (void)each->store.acquire("a", {.ttl = 60s}); });
    EXPECT_EQ(why, errc::not_ready) << text;
    EXPECT_NE(text.find("1 of the 2 replicas that it needs had the lock within 200 ms"), std::string::npos) << text;
    EXPECT_TRUE(is_free("a"));
  }
  all.server(2).stop();
  const auto [why, text] = failure_of([&] { (void)two.store.try_acquire("b"); });
  EXPECT_EQ(why, errc::not_ready) << "one poll is enough to report it, and it is not 'busy': " << text;
  EXPECT_NE(text.find("0 of the 2 replicas"), std::string::npos) << text;
  EXPECT_TRUE(is_free("b"));
}

TEST_F(redis_replicas, are_waited_for_if_they_return_in_time) {
  watched_client one(url("wait_replicas=2", "300ms"), failover_patience);
  all.server(1).stop();
  auto got = std::async(std::launch::async, [&] { return one.store.try_acquire("a", within(test::hang)); });
  EXPECT_TRUE(test::eventually([&] { return calls("wait") > 2; })) << "it asks again";
  all.server(1).go_on();
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_F(redis_replicas, fail_if_there_are_fewer_than_required) {
  watched_client one(url("wait_replicas=3", "200ms"), 2s);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::not_ready) << text;
  EXPECT_NE(text.find("2 of the 3 replicas"), std::string::npos) << text;
  EXPECT_TRUE(is_free("a"));
}

TEST_F(redis_replicas, have_a_handed_on_lock_before_its_next_holder) {
  watched_client one(url("wait_replicas=2"), failover_patience), other(url("wait_replicas=2"), failover_patience);
  lease held = one.store.acquire("a", {.ttl = 20s});
  auto waiting = other.wait_for("a", {.ttl = 20s});
  const std::int64_t before = calls("wait");
  EXPECT_EQ(held.release(), released::yes);
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(calls("wait"), before) << "it has asked by itself, and waited for that";
  const redis::value holder = all.server(0).ask({"GET", "holdfast:{a}"});
  for (std::size_t replica = 1; replica < 3; ++replica) {
    EXPECT_EQ(all.server(replica).ask({"GET", "holdfast:{a}"}).text, holder.text);
  }
}

TEST_F(redis_replicas, also_cover_several_names_readers_and_permits) {
  watched_client one(url("wait_replicas=2"), failover_patience);
  const auto on_replicas = [&](const std::string& key) {
    return all.server(1).keys(key).size() + all.server(2).keys(key).size();
  };
  const lease both = one.store.acquire({"a", "b"});
  EXPECT_EQ(on_replicas("holdfast:{a}") + on_replicas("holdfast:{b}"), 4u);
  shared_mutex readers(one.store, "r");
  const std::shared_lock reading(readers);
  EXPECT_EQ(on_replicas("holdfast:{r}:h"), 2u);
  semaphore permits(one.store, "p", 3);
  permits.acquire();
  EXPECT_EQ(on_replicas("holdfast:{p}:h"), 2u);
  permits.release();
}

TEST_F(redis_replicas, cost_no_round_trip_and_do_not_delay_renew_or_release) {
  test::fault_proxy proxy(all.server(0).socket());
  watched_client one("redis+unix://" + proxy.socket() + "?timeout=20s&wait_timeout=10s&wait_replicas=2",
                     failover_patience);
  {
    const lease warm = one.store.acquire("a");
  }
  const std::int64_t scripts = calls("evalsha"), waits = calls("wait");
  constexpr int pairs = 20;
  for (int n = 0; n < pairs; ++n) {
    lease held = one.store.acquire("a");
    EXPECT_TRUE(held.renew(10s));
    EXPECT_EQ(held.release(), released::yes);
  }
  EXPECT_EQ(calls("wait"), waits + pairs) << "behind the grants, and nothing else";
  EXPECT_GE(calls("evalsha"), scripts + 3 * pairs);
  // If the client waited for the grant before it sent the rest, it would never send the rest.
  const std::int64_t before = calls("wait");
  proxy.treat(fault_proxy::way::to_client, fault_proxy::treatment::hold);
  auto got = std::async(std::launch::async, [&] { return one.store.try_acquire("b", within(test::hang)); });
  EXPECT_TRUE(test::eventually([&] { return calls("wait") == before + 1; }));
  proxy.heal();
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_F(redis_replicas, are_also_waited_for_by_coroutines) {
  watched_client one(url("wait_replicas=2"), failover_patience);
  std::vector<std::future<bool>> all_held;
  for (int n = 0; n < 20; ++n) {
    auto held = std::make_shared<std::promise<bool>>();
    all_held.push_back(held->get_future());
    one.store.async_try_acquire(
        "c/" + std::to_string(n), within(test::hang), {},
        [held](std::error_code, std::optional<lease> got) { held->set_value(got.has_value()); });
  }
  for (std::future<bool>& each : all_held) EXPECT_TRUE(test::get(std::move(each)));
}

TEST_F(redis_replicas, need_a_server_with_waitaof_for_disks) {
  watched_client one(url("wait_aof=local"), failover_patience);
  const bool knows = !all.server(0).ask({"COMMAND", "INFO", "WAITAOF"}).items.at(0).items.empty();
  if (knows) {
    for (std::size_t n = 0; n < 3; ++n) (void)all.server(n).ask({"CONFIG", "SET", "appendonly", "yes"});
    EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
    watched_client disks(url("wait_aof=replicas&wait_replicas=2"), failover_patience);
    EXPECT_TRUE(disks.store.try_acquire("b", within(test::hang)));
    EXPECT_GE(calls("waitaof"), 2);
    return;
  }
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unsupported) << text;
  EXPECT_NE(text.find("wait_aof needs WAITAOF"), std::string::npos) << text;
}

}  // namespace
}  // namespace holdfast::faults
