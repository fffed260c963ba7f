// The server's clock is set, forwards and backwards, while locks are held and waited for.
#include <gtest/gtest.h>

#include "faults/redis_store.hpp"
#include "support/found.hpp"
#include "support/stepped_clock.hpp"

namespace holdfast::faults {
namespace {

class redis_clock : public testing::Test {
 protected:
  [[nodiscard]] std::int64_t server_seconds() const { return std::stoll(server.ask({"TIME"}).items.at(0).text); }

  const test::stepped_clock clock;
  const test::redis_server server{{}, {}, clock.environment()};
};

TEST_F(redis_clock, can_be_set_by_this_test) {
  const std::int64_t before = server_seconds();
  clock.set_ahead(1h);
  EXPECT_GE(server_seconds(), before + 3600);
}

TEST_F(redis_clock, reports_an_offset_in_the_health_check) {
  clock.set_ahead(-1h);
  watched_client one(server.url());
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::is(all, "redis.clock", finding::severity::warning));
  EXPECT_TRUE(test::is(all, "redis.clock_rate", finding::severity::fine));
}

TEST_F(redis_clock, reports_a_step_during_the_health_check) {
  watched_client one(server.url());
  auto examining = std::async(std::launch::async, [&] { return one.store.examine(); });
  EXPECT_TRUE(test::eventually([&] {  // it has read the clock once
    return server.ask({"INFO", "commandstats"}).text.find("cmdstat_time:") != std::string::npos;
  }));
  clock.set_ahead(300ms);
  EXPECT_TRUE(test::is(test::get(std::move(examining)), "redis.clock_rate", finding::severity::danger));
}

TEST_F(redis_clock, reports_a_step_to_the_observer_while_a_client_waits) {
  watched_client one(server.url()), other(server.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  auto waiting = other.wait_for("a");
  EXPECT_TRUE(other.seen->events(event::kind::warning).empty());
  clock.set_ahead(10s);
  EXPECT_TRUE(other.seen->comes(event::kind::warning, 1));
  clock.set_ahead(-60s);
  EXPECT_TRUE(other.seen->comes(event::kind::warning, 2));
  const std::string text(other.seen->events(event::kind::warning).back().text);
  EXPECT_NE(text.find("the server's clock was set"), std::string::npos) << text;
  clock.set_ahead(0ms);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_F(redis_clock, reports_loss_when_set_forwards) {
  watched_client one(server.url());
  lease held = one.store.acquire("a", {.ttl = 900ms});
  const std::stop_token lost = held.lost_token();
  clock.set_ahead(1h);
  EXPECT_TRUE(happens(lost));
  EXPECT_TRUE(one.store.try_acquire("a", within(test::hang)));
}

TEST_F(redis_clock, raises_the_fence_of_a_second_holder_when_set_forwards) {
  watched_client one(server.url()), other(server.url());
  const lease before = one.store.acquire("a", {.ttl = 1h, .renew = false});
  clock.set_ahead(2h);
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_TRUE(before.held()) << "the holder uses its own clock, which was not set";
  fence_gate storage;
  EXPECT_TRUE(storage.admit(next->fence()));
  EXPECT_FALSE(storage.admit(before.fence()));
}

TEST_F(redis_clock, never_lowers_fences_when_set_back) {
  watched_client one(server.url());
  std::uint64_t last = 0;
  for (const std::chrono::milliseconds ahead : {0ms, 10'000ms, 5'000ms, -60'000ms, 0ms}) {
    clock.set_ahead(ahead);
    const std::optional<lease> held = one.store.try_acquire("a", within(test::hang));
    ASSERT_TRUE(held);
    EXPECT_GT(held->fence(), last) << ahead.count();
    last = held->fence();
  }
}

TEST_F(redis_clock, only_delays_expiry_of_dead_holders_when_set_back) {
  watched_client one(server.url()), other(server.url());
  lease held = one.store.acquire("a", {.ttl = 900ms});
  auto waiting = other.wait_for("a");
  clock.set_ahead(-1h);
  EXPECT_TRUE(held.renew(900ms));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting))) << "the message with the grant came from a clock that was set back";
}

TEST_F(redis_clock, makes_a_waiter_poll_before_it_trusts_a_grant) {
  watched_client one(server.url()), other(server.url());
  lease held = one.store.acquire("a", {.ttl = 24h});
  auto waiting = other.wait_for("a");
  clock.set_ahead(1min);  // the message will say that the grant was a minute after the poll
  const boot_clock::time_point before = boot_clock::now();
  EXPECT_EQ(held.release(), released::yes);
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->held());
  EXPECT_LE(next->deadline(), boot_clock::now() + 10s) << "a deadline in the far future";
  EXPECT_GT(next->deadline(), before);
}

}  // namespace
}  // namespace holdfast::faults
