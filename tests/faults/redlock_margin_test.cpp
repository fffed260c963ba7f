// The margin is the number of servers beyond a majority that hold a lock. It is reported, repaired and enforced.
#include <gtest/gtest.h>

#include "faults/redlock_servers.hpp"

namespace holdfast::faults {
namespace {

bool grows_to(const lease& held, std::size_t margin) {
  return test::eventually([&] { return held.margin() == margin; });
}

TEST(redlock_margin, counts_the_servers_that_may_lose_a_held_lock) {
  for (const std::size_t many : {3u, 5u}) {
    redlock_servers servers(many);
    watched_client one(servers.url()), other(servers.url());
    lease held = one.store.acquire("a", {.ttl = 1h});
    EXPECT_TRUE(grows_to(held, many / 2));
    for (std::size_t n = 0; n < many / 2; ++n) {
      servers[n].kill();
      EXPECT_TRUE(held.renew(1h));
      EXPECT_TRUE(grows_to(held, many / 2 - n - 1));
    }
    EXPECT_EQ(other.store.inspect("a").holders.front().margin, 0u);
    EXPECT_FALSE(other.store.try_acquire("a"));
    EXPECT_EQ(held.release(), released::yes);
    EXPECT_EQ(held.margin(), 0u);
  }
}

TEST(redlock_margin, is_restored_by_a_renewal_when_a_server_is_back) {
  for (const std::size_t many : {3u, 5u}) {
    redlock_servers servers(many);
    watched_client one(servers.url());
    servers[0].kill();
    lease held = one.store.acquire("a", {.ttl = 3s});
    EXPECT_TRUE(grows_to(held, many / 2 - 1));
    servers[0].start();
    EXPECT_TRUE(grows_to(held, many / 2));
    EXPECT_EQ(servers.holding("a"), many);
    EXPECT_TRUE(held.held());
  }
}

TEST(redlock_margin, excludes_a_server_that_is_too_young_to_vote) {
  const std::vector<std::string> durable{"--appendonly", "yes", "--appendfsync", "always"};
  test::redis_server first(durable), second(durable), young;
  watched_client one("redlock+unix://" + first.socket() + "," + second.socket() + "," + young.socket() +
                     "?timeout=300ms&max_ttl=1h");
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return !young.ask({"GET", redlock_servers::key("a")}).text.empty(); }));
  EXPECT_TRUE(held.renew(1h));
  EXPECT_EQ(held.margin(), 0u);
}

TEST(redlock_margin, is_the_smallest_of_several_names) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  lease both = one.store.acquire({"a", "b"}, {.ttl = 1h});
  EXPECT_TRUE(grows_to(both, 1));
  lease delayed = one.store.acquire("c", {.ttl = 10min, .delay = 1s});
  EXPECT_TRUE(grows_to(delayed, 1));
  (void)servers[2].ask({"DEL", redlock_servers::key("b")});
  (void)servers[2].ask({"SET", redlock_servers::key("b"), "another", "PX", "60000"});
  EXPECT_TRUE(both.renew(1h));
  EXPECT_TRUE(grows_to(both, 0));
}

TEST(redlock_margin, is_reached_by_a_granted_lock_if_required) {
  for (const std::size_t many : {3u, 5u}) {
    redlock_servers servers(many);
    watched_client one(servers.url("young_nodes=vote&max_ttl=1h&min_margin=" + std::to_string(many / 2)));
    const lease held = one.store.acquire("a", {.ttl = 1h});
    EXPECT_EQ(held.margin(), many / 2);
    EXPECT_EQ(one.store.inspect("a").holders.front().margin, many / 2);
    EXPECT_EQ(servers.holding("a"), many);
  }
}

TEST(redlock_margin, fails_with_advice_if_it_cannot_be_reached) {
  redlock_servers servers(3);
  watched_client one(servers.url("young_nodes=vote&max_ttl=1h&min_margin=1"), 300ms);
  servers[2].kill();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::not_ready) << text;
  EXPECT_NE(text.find("2 of the 3 servers that a min_margin of 1 needs gave the lock"), std::string::npos) << text;
  EXPECT_NE(text.find("lower min_margin"), std::string::npos) << text;
  EXPECT_NE(text.find(servers[2].socket()), std::string::npos) << text;
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 0; }))
      << "the votes of the failed attempt are withdrawn";
  servers[2].start();
  watched_client patient(servers.url("young_nodes=vote&max_ttl=1h&min_margin=1"));
  EXPECT_TRUE(patient.store.try_acquire("a", within(test::hang), {.ttl = 1h}));
}

TEST(redlock_margin, fails_of_five_even_if_not_all_replied) {
  redlock_servers servers(5);
  watched_client one(servers.url("young_nodes=vote&max_ttl=1h&min_margin=2"), 300ms);
  servers[0].kill();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::not_ready) << text;
  EXPECT_EQ(text.find("no majority"), std::string::npos) << text;
}

TEST(redlock_margin, of_one_among_five_tolerates_a_dead_server) {
  redlock_servers servers(5);
  watched_client one(servers.url("young_nodes=vote&max_ttl=1h&min_margin=1"));
  servers[4].kill();
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_EQ(held.margin(), 1u);
  servers[3].kill();
  EXPECT_TRUE(held.renew(1h)) << "a renewal needs a majority but no margin";
  EXPECT_TRUE(grows_to(held, 0));
}

TEST(redlock_margin, is_rejected_if_larger_than_possible) {
  redlock_servers servers(3);
  const auto [why, text] = failure_of([&] { (void)open(servers.url("min_margin=2")); });
  EXPECT_EQ(why, errc::bad_url) << text;
  EXPECT_NE(text.find("'min_margin' is a number from 0 to 1 with 3 servers"), std::string::npos) << text;
}

TEST(redlock_margin, is_absent_with_a_single_server) {
  test::redis_server server;
  watched_client one(server.url());
  const lease held = one.store.acquire("a");
  EXPECT_EQ(held.margin(), 0u);
  EXPECT_EQ(lease().margin(), 0u);
  EXPECT_FALSE(one.store.inspect("a").holders.front().margin);
}

}  // namespace
}  // namespace holdfast::faults
