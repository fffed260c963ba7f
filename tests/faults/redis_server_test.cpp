// Redis servers are killed, stopped, emptied, paused and flushed.
#include <gtest/gtest.h>

#include <thread>

#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

class redis_server : public testing::Test {
 protected:
  test::redis_server server;
  [[nodiscard]] std::string url() const { return server.url("timeout=1s"); }
};

TEST_F(redis_server, reports_loss_early_when_it_restarts_empty) {
  watched_client one(url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  watched_client other(url());
  auto waiting = other.wait_for("a");  // it checks the connections that receive the grant
  server.kill();
  server.start();
  EXPECT_TRUE(happens(lost));
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence()) << "the floor of time holds though the last fence is gone";
  EXPECT_EQ(held.release(), released::lost);
  EXPECT_TRUE(next->held());
}

TEST(redis_server_with_data, keeps_holders_and_waiters_across_a_restart) {
  test::redis_server server({"--appendonly", "yes", "--appendfsync", "always"});
  watched_client one(server.url("timeout=300ms"), 20s), other(server.url("timeout=300ms"), 20s);
  lease held = one.store.acquire("a", {.ttl = 20s});
  auto waiting = other.wait_for("a", {.ttl = 20s});
  server.kill();
  server.start();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed)) << "it is verified at once";
  EXPECT_TRUE(held.held());
  // The waiter must have polled again to be in the queue, and must subscribe again: the server skips a waiter that does
  // not listen.
  EXPECT_TRUE(test::eventually(
      [&] { return server.keys("*:q").size() == 1 && server.ask({"PUBSUB", "SHARDCHANNELS"}).items.size() >= 1; }));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_F(redis_server, reports_loss_when_it_hangs_until_the_deadline) {
  watched_client one(url());
  lease held = one.store.acquire("a", {.ttl = 600ms});
  const std::stop_token lost = held.lost_token();
  server.stop();
  EXPECT_TRUE(happens(lost));
  EXPECT_FALSE(held.held());
  server.go_on();
  watched_client other(url());
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST_F(redis_server, delays_a_caller_by_its_patience_at_most_when_it_hangs) {
  watched_client one(url(), 400ms);
  {
    const lease held = one.store.acquire("a");
  }
  server.stop();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unreachable) << text;
  server.go_on();
  EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
}

TEST_F(redis_server, is_unreachable_when_down_and_usable_when_back) {
  watched_client one(url(), 200ms);
  server.kill();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find(server.socket()), std::string::npos) << text;
  server.start();
  EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
}

TEST_F(redis_server, loses_no_lock_when_it_closes_connections_repeatedly) {
  watched_client one(url()), other(url());
  std::uint64_t last = 0;
  for (int n = 0; n < 20; ++n) {
    lease held = one.store.acquire("a", {.ttl = 20s});
    EXPECT_GT(held.fence(), last);
    last = held.fence();
    auto waiting = other.wait_for("a", {.ttl = 20s});
    (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
    (void)server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_NE(held.release(), released::lost);
    std::optional<lease> next = test::get(std::move(waiting));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence(), last);
    last = next->fence();
  }
}

TEST_F(redis_server, gets_its_scripts_again_after_a_flush) {
  watched_client one(url());
  for (int n = 0; n < 50; ++n) {
    lease held = one.store.acquire("a");
    (void)server.ask({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(held.renew(10s));
    (void)server.ask({"SCRIPT", "FLUSH"});
    EXPECT_EQ(held.release(), released::yes);
    (void)server.ask({"SCRIPT", "FLUSH"});
  }
}

TEST_F(redis_server, releases_a_waiter_at_close_even_without_the_script) {
  watched_client one(url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  for (int n = 0; n < 20; ++n) {
    {
      watched_client other(url());
      std::stop_source enough;
      auto waiting = std::async(std::launch::async, [s = other.store, t = enough.get_token()]() mutable {
        return s.try_acquire("a", until(t)).has_value();
      });
      EXPECT_TRUE(other.seen->comes(event::kind::waiting));
      (void)server.ask({"SCRIPT", "FLUSH"});
      enough.request_stop();
      EXPECT_FALSE(waiting.get());
    }
    EXPECT_TRUE(test::eventually([&] { return server.ask({"ZCARD", "holdfast:{a}:q"}).number == 0; }));
  }
}

TEST_F(redis_server, hides_a_script_flush_from_concurrent_callers) {
  watched_client one(server.url());
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  std::atomic<int> pairs{0};
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      while (!over) {
        lease held = one.store.acquire("a/" + std::to_string(n));
        EXPECT_EQ(held.release(), released::yes);
        ++pairs;
      }
    });
  }
  for (int n = 0; n < 100; ++n) (void)server.ask({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(test::eventually([&] { return pairs > 100; }));
  over = true;
  for (std::thread& t : threads) t.join();
}

TEST_F(redis_server, is_waited_for_during_client_pause) {
  watched_client one(server.url("timeout=5s"), 20s);
  lease held = one.store.acquire("a", {.ttl = 20s});
  (void)server.ask({"CLIENT", "PAUSE", "700", "WRITE"});
  EXPECT_TRUE(held.renew(20s));
  EXPECT_EQ(held.release(), released::yes);
}

TEST_F(redis_server, makes_a_claim_adopt_its_grant_after_a_long_pause) {
  watched_client one(url(), 20s);
  (void)server.ask({"CLIENT", "PAUSE", "900", "WRITE"});
  std::optional<lease> held = one.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(held);
  EXPECT_EQ(held->release(), released::yes);
  EXPECT_TRUE(test::eventually([&] { return server.keys("*{a}").empty(); })) << "a request that came late has taken it";
}

TEST_F(redis_server, only_delays_calls_while_a_command_sleeps) {
  watched_client one(server.url("timeout=5s")), other(server.url("timeout=5s"));
  lease held = one.store.acquire("a", {.ttl = 10s});
  auto waiting = other.wait_for("a");
  std::thread sleeper([&] { (void)server.ask({"DEBUG", "SLEEP", "0.5"}); });
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  sleeper.join();
}

TEST(redis_server_that_evicts, reports_loss_of_an_evicted_lock) {
  test::redis_server server({"--maxmemory-policy", "allkeys-random", "--enable-debug-command", "yes"});
  watched_client one(server.url());
  lease held = one.store.acquire("a", {.ttl = 300ms});
  const std::stop_token lost = held.lost_token();
  (void)server.ask({"CONFIG", "SET", "maxmemory", "1mb"});
  EXPECT_TRUE(test::eventually([&] {  // each write evicts something
    (void)server.ask({"SET", "x", "y"});
    return server.keys("holdfast:{a}").empty();
  }));
  (void)server.ask({"CONFIG", "SET", "maxmemory", "0"});
  const std::optional<lease> next = one.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence()) << "though the last one may have been evicted, too";
  EXPECT_TRUE(happens(lost));
}

TEST_F(redis_server, raises_the_fence_after_it_was_flushed) {
  watched_client one(url()), other(url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  (void)server.ask({"FLUSHALL"});
  const lease next = other.store.acquire("a");
  EXPECT_GT(next.fence(), held.fence());
  EXPECT_EQ(held.release(), released::lost);
  EXPECT_TRUE(next.held());
}

TEST_F(redis_server, has_no_key_of_ours_without_a_ttl) {
  watched_client one(url()), other(url());
  {
    lease held = one.store.acquire("a", {.label = "for a while"});
    auto waiting = other.wait_for("a");
    for (const std::string& key : server.keys()) {
      const std::int64_t left = server.ask({"PTTL", key}).number;
      EXPECT_GT(left, 0) << key;
      EXPECT_LE(left, 86'400'000) << key;
    }
    EXPECT_EQ(held.release(), released::yes);
    EXPECT_TRUE(test::get(std::move(waiting)));
  }
  EXPECT_TRUE(test::eventually([&] { return server.keys("*{a}*") == std::vector<std::string>{"holdfast:{a}:f"}; }));
}

TEST_F(redis_server, lists_our_clients_by_name) {
  watched_client one(url()), other(url());
  lease held = one.store.acquire("a", {.label = "rebuild"});
  ASSERT_EQ(server.keys("holdfast:client:*").size(), 1u) << "it can be named as soon as it holds";
  auto waiting = other.wait_for("a");
  EXPECT_EQ(other.seen->events(event::kind::waiting).back().text, "rebuild");
  const std::string record = server.ask({"GET", server.keys("holdfast:client:*").front()}).text;
  EXPECT_NE(record.find("\n" + std::to_string(::getpid()) + "\n"), std::string::npos) << record;
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

}  // namespace
}  // namespace holdfast::faults
