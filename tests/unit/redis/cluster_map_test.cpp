#include "redis/cluster/cluster_map.hpp"

#include <gtest/gtest.h>

#include "redis/protocol/codec.hpp"

namespace holdfast::redis {
namespace {

const net::endpoint asked_node{"seed.example", 7000};

value said(std::string_view bytes) {
  decoder d;
  d.feed(bytes);
  return d.next().value();
}

TEST(cluster_map, reads_the_slots_of_each_node) {
  const auto all = slots_in(said("*2\r\n"
                                 "*4\r\n:0\r\n:8191\r\n"
                                 "*4\r\n$9\r\n127.0.0.1\r\n:7001\r\n$1\r\na\r\n%0\r\n"
                                 "*4\r\n$9\r\n127.0.0.1\r\n:7003\r\n$1\r\nc\r\n%0\r\n"
                                 "*3\r\n:8192\r\n:16383\r\n*3\r\n$3\r\n::1\r\n:7002\r\n$1\r\nb\r\n"),
                            asked_node);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->front().first, 0);
  EXPECT_EQ(all->front().last, 8191);
  EXPECT_EQ(all->front().primary.host, "127.0.0.1");
  EXPECT_EQ(all->front().primary.port, 7001);
  EXPECT_EQ(all->front().replicas, 1u);
  EXPECT_EQ(all->back().primary.host, "::1");
  EXPECT_EQ(all->back().replicas, 0u);
}

TEST(cluster_map, uses_the_queried_address_for_a_nameless_node) {
  for (const char* const host : {"$-1\r\n", "$0\r\n\r\n", "_\r\n", "$1\r\n?\r\n"}) {
    const auto all =
        slots_in(said("*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n" + std::string(host) + ":7001\r\n$1\r\na\r\n"), asked_node);
    ASSERT_TRUE(all) << host;
    EXPECT_EQ(all->front().primary.host, "seed.example");
    EXPECT_EQ(all->front().primary.port, 7001);
  }
}

TEST(cluster_map, uses_the_address_when_the_preferred_name_is_missing) {
  const auto all = slots_in(said("*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$1\r\n?\r\n:7001\r\n$1\r\na\r\n"
                                 "%1\r\n$2\r\nip\r\n$8\r\n10.0.0.7\r\n"),
                            asked_node);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().primary.host, "10.0.0.7");
}

TEST(cluster_map, refuses_a_malformed_reply) {
  for (const char* const bytes :
       {"+OK\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n", "*1\r\n*3\r\n:5\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n", "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n"}) {
    EXPECT_FALSE(slots_in(said(bytes), asked_node)) << bytes;
  }
  EXPECT_TRUE(slots_in(said("*0\r\n"), asked_node)) << "a node that is in no cluster yet";
}

TEST(redirections, read_the_slot_and_the_node) {
  const auto moved = redirection::of("MOVED 3999 127.0.0.1:6381", asked_node);
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->once);
  EXPECT_EQ(moved->slot, 3999);
  EXPECT_EQ(moved->to.host, "127.0.0.1");
  EXPECT_EQ(moved->to.port, 6381);
  const auto ask = redirection::of("ASK 1 ::1:6381", asked_node);
  ASSERT_TRUE(ask);
  EXPECT_TRUE(ask->once);
  EXPECT_EQ(ask->to.host, "::1");
  const auto unnamed = redirection::of("MOVED 3999 :6381", asked_node);
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(unnamed->to.host, "seed.example");
}

TEST(redirections, ignore_other_errors) {
  for (const char* const error :
       {"", "MOVED", "MOVED 1", "MOVED 1 host", "MOVED 16384 host:1", "MOVED -1 host:1", "MOVED x host:1",
        "MOVED 1 host:0", "MOVED 1 host:65536", "MOVED 1 host:", "ERR MOVED 1 host:1", "ASKING 1 host:1",
        "TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN Hash slot not served"}) {
    EXPECT_FALSE(redirection::of(error, asked_node)) << error;
  }
}

}  // namespace
}  // namespace holdfast::redis
