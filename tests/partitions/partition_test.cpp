// The kernel drops packets of servers, in one direction or both: open connections stall, new ones cannot be made, and
// TCP delivers what it can after the partition.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "faults/redis_store.hpp"
#include "support/private_network.hpp"

namespace holdfast::faults {

test::private_network* network = nullptr;

namespace {

using way = test::private_network::way;

/// A server on two addresses, whose packets are dropped separately.
class remote_server {
 public:
  static constexpr const char* near = "127.0.0.1";
  static constexpr const char* far = "127.0.0.2";

  [[nodiscard]] std::string at(const std::string& address) const { return address + ":" + std::to_string(port_); }
  [[nodiscard]] bool has(const std::string& name) const {
    return !server_.ask({"GET", "holdfast:{" + name + "}"}).text.empty();
  }
  [[nodiscard]] std::string fence_of(const std::string& name) const {
    return server_.ask({"GET", "holdfast:{" + name + "}:f"}).text;
  }

  void drop(way w, const std::string& address) const { network->drop(w, address, port_); }
  void cut_off(const std::string& address) const {
    drop(way::to_server, address);
    drop(way::to_client, address);
  }

 private:
  const int port_ = test::free_port();
  const test::redis_server server_{{"--port", std::to_string(port_), "--bind", near, far}};
};

struct healed {
  ~healed() { network->heal(); }
};

class partition : public testing::Test {
 protected:
  [[nodiscard]] std::string url(const char* address) const {
    return "redis://" + server.at(address) + "?timeout=300ms&connect_timeout=300ms";
  }
  const remote_server server;
  const healed at_the_end;
};

TEST_F(partition, without_replies_lets_a_caller_adopt_its_grant) {
  watched_client one(url(remote_server::far)), other(url(remote_server::near));
  EXPECT_TRUE(one.store.try_acquire("before"));
  server.drop(way::to_client, remote_server::far);
  auto got =
      std::async(std::launch::async, [&] { return one.store.try_acquire("a", within(test::hang), {.ttl = 1h}); });
  EXPECT_TRUE(test::eventually([&] { return server.has("a"); })) << "the request has arrived";
  const std::string fence = server.fence_of("a");
  EXPECT_FALSE(other.store.try_acquire("a")) << "it is held, whether its holder knows or not";
  network->heal();
  const std::optional<lease> held = test::get(std::move(got));
  ASSERT_TRUE(held) << "it mistook its own lock for another client's";
  EXPECT_EQ(server.fence_of("a"), fence) << "it was granted once";
}

TEST_F(partition, without_replies_leaves_no_lock_of_a_caller_that_left) {
  watched_client one(url(remote_server::far), 1s), other(url(remote_server::near));
  EXPECT_TRUE(one.store.try_acquire("before"));
  server.drop(way::to_client, remote_server::far);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_TRUE(server.has("a")) << "timed out, but succeeded";
  network->heal();
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang))) << "it is released once the network works";
}

TEST_F(partition, without_requests_is_unreachable_and_acquires_nothing) {
  watched_client one(url(remote_server::far), 1s);
  EXPECT_TRUE(one.store.try_acquire("before"));
  server.drop(way::to_server, remote_server::far);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_FALSE(server.has("a"));
}

TEST_F(partition, of_the_holder_is_reported_to_it_before_the_next_grant) {
  for (const bool both : {false, true}) {
    watched_client one(url(remote_server::far)), other(url(remote_server::near));
    lease held = one.store.acquire("a", {.ttl = 2s});
    const std::stop_token lost = held.lost_token();
    auto waiting = other.wait_for("a");
    server.drop(way::to_server, remote_server::far);  // if only replies were lost, renewals would still arrive
    if (both) server.drop(way::to_client, remote_server::far);
    const std::optional<lease> next = test::get(std::move(waiting));
    ASSERT_TRUE(next);
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(happens(lost));
    EXPECT_GT(next->fence(), held.fence());
    network->heal();
    EXPECT_EQ(held.release(), released::lost);
    EXPECT_TRUE(next->held()) << "the first holder must not release it";
  }
}

TEST_F(partition, that_ends_in_time_loses_no_lease) {
  watched_client one(url(remote_server::far));
  lease held = one.store.acquire("a", {.ttl = 20s});
  EXPECT_TRUE(one.store.try_acquire("before"));
  server.cut_off(remote_server::far);
  EXPECT_TRUE(one.seen->comes(event::kind::suspect, 1));
  const std::size_t renewed = one.seen->events(event::kind::renewed).size();
  network->heal();
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed + 1));
  EXPECT_EQ(held.release(), released::yes);
}

/// With three servers and with five.
class redlock_partition : public testing::TestWithParam<std::size_t> {
 protected:
  redlock_partition() {
    for (std::size_t n = 0; n < GetParam(); ++n) servers.push_back(std::make_unique<remote_server>());
  }
  [[nodiscard]] std::string url(const char* address) const {
    std::string all;
    for (const auto& each : servers) all.append(all.empty() ? "" : ",").append(each->at(address));
    return "redlock://" + all + "?timeout=300ms&connect_timeout=300ms&young_nodes=vote&max_ttl=1h";
  }
  [[nodiscard]] std::size_t minority() const { return servers.size() / 2; }
  [[nodiscard]] std::size_t holding(const std::string& name) const {
    std::size_t many = 0;
    for (const auto& each : servers) many += each->has(name) ? 1U : 0U;
    return many;
  }
  std::vector<std::unique_ptr<remote_server>> servers;
  const healed at_the_end;
};
INSTANTIATE_TEST_SUITE_P(of_servers, redlock_partition, testing::Values(3, 5));

TEST_P(redlock_partition, of_a_minority_is_tolerated) {
  watched_client one(url(remote_server::far)), other(url(remote_server::near));
  lease before = one.store.acquire("before", {.ttl = 2s});
  for (std::size_t n = 0; n < minority(); ++n) {
    if (n % 2 == 0) {
      servers[n]->drop(way::to_client, remote_server::far);
    } else {
      servers[n]->cut_off(remote_server::far);
    }
  }
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, 4)) << "for longer than its ttl";
  EXPECT_TRUE(before.held());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_FALSE(other.store.try_acquire("a"));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST_P(redlock_partition, of_a_majority_ends_the_lease_at_its_deadline) {
  watched_client one(url(remote_server::far)), other(url(remote_server::near));
  lease held = one.store.acquire("a", {.ttl = 2s});
  const std::stop_token lost = held.lost_token();
  for (std::size_t n = 0; n <= minority(); ++n) servers[n]->cut_off(remote_server::far);
  const std::optional<lease> next = other.store.try_acquire("a", within(test::hang), {.ttl = 1h});
  ASSERT_TRUE(next);
  EXPECT_FALSE(held.held());
  EXPECT_TRUE(happens(lost));
  EXPECT_GT(next->fence(), held.fence());
}

TEST_P(redlock_partition, without_replies_of_a_majority_leaves_no_votes) {
  watched_client one(url(remote_server::far), 1s), other(url(remote_server::near));
  EXPECT_TRUE(one.store.try_acquire("before"));
  for (std::size_t n = 0; n <= minority(); ++n) servers[n]->drop(way::to_client, remote_server::far);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_GT(holding("a"), 0u) << "timed out, but succeeded";
  network->heal();
  EXPECT_TRUE(test::eventually([&] { return holding("a") == 0; }));
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST_P(redlock_partition, with_two_different_majorities_grants_one_lock) {
  watched_client one(url(remote_server::far)), other(url(remote_server::near));
  for (std::size_t n = 0; n < minority(); ++n) {
    servers[n]->cut_off(remote_server::far);
    servers[servers.size() - 1 - n]->cut_off(remote_server::near);
  }
  for (int n = 0; n < 5; ++n) {
    std::optional<lease> held = one.store.try_acquire("a", within(test::hang), {.ttl = 1h});
    ASSERT_TRUE(held);
    EXPECT_FALSE(other.store.try_acquire("a")) << "they have a server in common";
    EXPECT_EQ(held->release(), released::yes);
    std::optional<lease> next = other.store.try_acquire("a", within(test::hang), {.ttl = 1h});
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence(), held->fence());
    EXPECT_FALSE(one.store.try_acquire("a"));
    EXPECT_EQ(next->release(), released::yes);
  }
}

}  // namespace
}  // namespace holdfast::faults

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    holdfast::test::private_network mine;
    holdfast::faults::network = &mine;
    return RUN_ALL_TESTS();
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
