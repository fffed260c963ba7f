// Network faults: silence in one direction, late and lost bytes, resets; and callers that do not wait.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "faults/redis_store.hpp"

namespace holdfast::faults {
namespace {

using way = fault_proxy::way;
using treatment = fault_proxy::treatment;

class redis_transport : public testing::Test {
 protected:
  test::redis_server server;
  fault_proxy proxy{server.socket()};
  [[nodiscard]] std::string url(const std::string& options) const {
    return "redis+unix://" + proxy.socket() + "?" + options;
  }
};

TEST_F(redis_transport, lets_a_caller_time_out_without_disturbing_others) {
  watched_client one(url("lanes=1&timeout=10s"), 20s);
  {
    const lease warm = one.store.acquire("warm");
  }
  proxy.treat(way::to_client, treatment::hold);
  std::atomic<int> impatient{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&, n] {
      const lease mine = one.store.acquire("patient/" + std::to_string(n));
      EXPECT_TRUE(mine.held());
    });
    threads.emplace_back([&, n] {
      EXPECT_FALSE(one.store.try_acquire("impatient/" + std::to_string(n), within(1ms), {.ttl = 1h}));
      ++impatient;
    });
  }
  EXPECT_TRUE(test::eventually([&] { return impatient == 8; })) << "impatient callers wait for the others";
  proxy.treat(way::to_client, treatment::pass);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(proxy.connections(), 2u) << "one of the pool and the event connection: none was dropped";
  EXPECT_TRUE(test::eventually([&] { return server.keys("*{impatient*}").empty(); })) << "they released what they got";
}

TEST_F(redis_transport, reconnects_when_silent_even_if_renewals_have_short_limits) {
  watched_client one(url("timeout=300ms"));
  {
    const lease warm = one.store.acquire("warm", {.ttl = 200ms});
    EXPECT_TRUE(one.seen->comes(event::kind::renewed));
  }
  proxy.mute_those_that_are_open();
  const std::size_t before = one.seen->events(event::kind::renewed).size();
  EXPECT_TRUE(test::eventually([&] {
    std::error_code why;
    const auto next = one.store.try_acquire("next", within(1s), {.ttl = 200ms}, why);
    (void)test::eventually(
        [&] { return !next || !next->held() || one.seen->events(event::kind::renewed).size() > before; });
    return one.seen->events(event::kind::renewed).size() > before;
  })) << "the connection is never closed, and every lease is lost";
}

TEST_F(redis_transport, gives_each_caller_its_own_reply_when_others_leave) {
  watched_client one(url("lanes=1&timeout=10s"), 20s);
  proxy.delay(way::to_client, 2ms);
  std::vector<std::thread> threads;
  std::atomic<int> left{0};
  for (int n = 0; n < 6; ++n) {
    threads.emplace_back([&, n] {
      const std::string name = "a/" + std::to_string(n);
      for (int k = 0; k < 60; ++k) {
        std::error_code why;
        std::optional<lease> mine =
            one.store.try_acquire(name, within(std::chrono::microseconds(700 * (k % 12))), {}, why);
        if (!mine) {
          ++left;
          continue;
        }
        // After another caller's reply the server would not have this lock.
        EXPECT_TRUE(mine->renew(10s));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(left, 0);
}

TEST_F(redis_transport, neither_leaks_nor_doubles_a_lock_when_cut_at_any_byte) {
  std::uint64_t last = 0;
  for (const way w : {way::to_server, way::to_client}) {
    for (std::size_t bytes = 1; bytes < 700; bytes += 23) {
      watched_client one(url("timeout=2s"), 20s);
      proxy.cut_after(w, bytes);
      std::optional<lease> held = one.store.try_acquire("a", within(test::hang), {.ttl = 10s});
      ASSERT_TRUE(held) << bytes;
      EXPECT_GT(held->fence(), last);
      last = held->fence();
      proxy.cut_after(w, bytes);
      EXPECT_NE(held->release(), released::lost) << bytes;
      proxy.heal();
      EXPECT_TRUE(test::eventually([&] { return server.keys("holdfast:{a}").empty(); })) << bytes;
    }
  }
}

TEST_F(redis_transport, reconnects_when_silent_with_replies_due) {
  watched_client one(url("timeout=200ms"), 20s);
  {
    const lease warm = one.store.acquire("warm");
  }
  proxy.treat(way::to_client, treatment::swallow);
  auto waiting = std::async(std::launch::async, [&] { return one.store.try_acquire("a", within(test::hang)); });
  const std::size_t before = proxy.seen(way::to_server);
  EXPECT_TRUE(test::eventually([&] { return proxy.seen(way::to_server) > before; }));
  EXPECT_TRUE(test::eventually([&] { return proxy.connections() == 0; })) << "it was not dropped";
  proxy.heal();
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_F(redis_transport, keeps_the_next_holder_when_a_release_arrives_late) {
  watched_client one(url("timeout=200ms"), 20s);
  lease held = one.store.acquire("a", {.ttl = 400ms});
  proxy.treat(way::to_server, treatment::hold);
  EXPECT_EQ(held.release(), released::unknown);
  watched_client other(server.url());
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  const auto scripts_run = [&] {
    const std::string stats = server.ask({"INFO", "commandstats"}).text;
    const std::size_t at = stats.find("cmdstat_evalsha:calls=");
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + 22));
  };
  const int before = scripts_run();
  proxy.treat(way::to_server, treatment::pass);
  EXPECT_TRUE(test::eventually([&] { return scripts_run() > before; })) << "the late release never arrived";
  watched_client last(url(""));
  EXPECT_FALSE(last.store.try_acquire("a")) << "the late release has taken it away";
  EXPECT_TRUE(next->held());
}

TEST_F(redis_transport, releases_a_lock_acquired_after_its_caller_left) {
  watched_client one(url("timeout=200ms"), 10s);
  {
    const lease warm = one.store.acquire("warm");
  }
  proxy.treat(way::to_server, treatment::hold);
  EXPECT_FALSE(one.store.try_acquire("a", within(20ms), {.ttl = 1h}));
  proxy.treat(way::to_server, treatment::pass);
  watched_client other(server.url());
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST_F(redis_transport, asks_again_when_try_lock_gets_no_answer) {
  watched_client one(url("timeout=100ms"), test::hang);
  {
    const lease warm = one.store.acquire("warm");
  }
  proxy.mute_those_that_are_open();
  mutex m(one.store, "a");
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_F(redis_transport, keeps_places_in_the_queue_when_connections_are_reset) {
  watched_client holder(server.url());
  lease held = holder.store.acquire("a", {.ttl = 20s});
  std::vector<std::unique_ptr<watched_client>> all;
  std::vector<std::future<std::optional<lease>>> waiting;
  for (int n = 0; n < 5; ++n) {
    all.push_back(std::make_unique<watched_client>(url("timeout=2s"), 20s));
    waiting.push_back(all.back()->wait_for("a", {.ttl = 20s}));
  }
  const std::size_t before = proxy.accepted();
  proxy.reset();
  EXPECT_TRUE(test::eventually([&] { return proxy.accepted() >= before + 10; }))
      << "an event connection and one of the pool each";
  EXPECT_TRUE(test::eventually([&] { return server.ask({"PUBSUB", "SHARDCHANNELS"}).items.size() == 5; }));
  EXPECT_TRUE(test::eventually([&] { return server.ask({"ZCARD", "holdfast:{a}:q"}).number == 5; }));
  EXPECT_EQ(held.release(), released::yes);
  std::uint64_t last = held.fence();
  for (auto& w : waiting) {
    std::optional<lease> got = test::get(std::move(w));
    ASSERT_TRUE(got);
    EXPECT_GT(got->fence(), last) << "out of order";
    last = got->fence();
    EXPECT_EQ(got->release(), released::yes);
  }
}

TEST_F(redis_transport, opens_connections_only_for_callers_that_block_together) {
  watched_client one(url("lanes=3"));
  for (int n = 0; n < 10; ++n) {
    const lease held = one.store.acquire("a/" + std::to_string(n));
  }
  EXPECT_EQ(proxy.connections(), 1u);
  proxy.treat(way::to_client, treatment::hold);
  std::vector<std::future<void>> all;
  for (int n = 0; n < 10; ++n) {
    all.push_back(
        std::async(std::launch::async, [&, n] { const lease held = one.store.acquire("b/" + std::to_string(n)); }));
  }
  EXPECT_TRUE(test::eventually([&] { return proxy.connections() == 3; }));
  proxy.treat(way::to_client, treatment::pass);
  for (auto& f : all) f.get();
  EXPECT_LE(proxy.connections(), 4u) << "three of the pool, and the event connection";
}

TEST_F(redis_transport, renews_over_the_pool_when_new_connections_are_silent) {
  watched_client one(url(""));
  const lease held = one.store.acquire("a", {.ttl = 1s});
  proxy.mute_new_ones();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, 9));
  EXPECT_TRUE(held.held());
  proxy.heal();
  EXPECT_TRUE(test::eventually([&] { return !server.ask({"PUBSUB", "SHARDCHANNELS"}).items.empty(); }))
      << "the event connection is not opened";
}

TEST_F(redis_transport, ends_a_blocked_call_at_once_when_stopped) {
  watched_client one(url("timeout=60s"), 60s);
  {
    const lease warm = one.store.acquire("warm");
  }
  proxy.treat(way::to_client, treatment::hold);
  std::stop_source stop;
  const std::size_t before = proxy.seen(way::to_server);
  auto asking = std::async(std::launch::async, [&] { return one.store.try_acquire("a", until(stop.get_token())); });
  EXPECT_TRUE(test::eventually([&] { return proxy.seen(way::to_server) > before; }));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(asking)));
  proxy.heal();
}

TEST_F(redis_transport, loses_a_lease_at_its_deadline_without_renewal_replies) {
  watched_client one(url("timeout=100ms"));
  lease held = one.store.acquire("a", {.ttl = 900ms});
  const std::stop_token lost = held.lost_token();
  proxy.treat(way::to_client, treatment::swallow);
  EXPECT_TRUE(happens(lost));
  EXPECT_FALSE(held.held());
  proxy.heal();
}

}  // namespace
}  // namespace holdfast::faults
