// TLS where there are several servers: each of them is verified, also those that the others name.
#include <gtest/gtest.h>

#include "faults/redis_store.hpp"
#include "support/certificates.hpp"

namespace holdfast::faults {
namespace {

class redis_tls_of_many : public testing::Test {
 protected:
  static void SetUpTestSuite() { made = std::make_unique<test::certificates>(); }
  static void TearDownTestSuite() { made.reset(); }

  struct member {
    int port = 0;
    std::unique_ptr<test::redis_server> server;
  };
  /// At that port it speaks TLS; no other is open.
  static member start(const std::string& certificate, const std::vector<std::string>& more = {},
                      const std::string& configuration = {}) {
    const int port = test::free_port();
    std::vector<std::string> options = made->of_server(certificate, port);
    options.insert(options.end(), {"--port", "0"});
    options.insert(options.end(), more.begin(), more.end());
    return {port, std::make_unique<test::redis_server>(options, configuration)};
  }
  static std::string address(const member& m) { return "127.0.0.1:" + std::to_string(m.port); }
  static std::string trust() { return "?ca=" + made->file("ca.crt"); }

  static std::unique_ptr<test::certificates> made;
};

std::unique_ptr<test::certificates> redis_tls_of_many::made;

void works(const std::string& url, const std::string& name) {
  watched_client one(url), other(url);
  lease held = one.store.acquire(name);
  auto waiting = other.wait_for(name);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

auto refusal(const std::string& url) {
  return failure_of([&] { (void)open(url, {.patience = 2s}).acquire("a"); });
}

TEST_F(redis_tls_of_many, works_with_a_primary_that_a_sentinel_names) {
  const member primary = start("numbers");
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const member sentinel = start("numbers", {"--sentinel", "--tls-replication", "yes"}, lines);
  works("rediss+sentinel://" + address(sentinel) + "/shop" + trust(), "a");
}

/// It dies before it names it; the other one never does.
TEST_F(redis_tls_of_many, works_with_a_replica_that_a_sentinel_has_made_the_primary) {
  const std::vector<std::string> among_them = {"--tls-replication", "yes", "--repl-diskless-sync-delay", "0"};
  const member primary = start("numbers", among_them), replica = start("numbers", among_them);
  (void)replica.server->ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port)});
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const std::vector<std::string> watches = {"--sentinel", "--tls-replication", "yes"};
  const member one = start("numbers", watches, lines), other = start("numbers", watches, lines);
  watched_client client("rediss+sentinel://" + address(one) + "," + address(other) + "/shop" + trust());
  const auto locks_at_primary = [&] {
    const lease taken = client.store.acquire("a");
    return !primary.server->keys("holdfast:{a}").empty();
  };
  EXPECT_TRUE(locks_at_primary());
  (void)other.server->ask({"SENTINEL", "SIMULATE-FAILURE", "crash-after-promotion"});
  const auto begun = [&] { return other.server->ask({"SENTINEL", "FAILOVER", "shop"}).text == "OK"; };
  ASSERT_TRUE(test::eventually(begun));
  EXPECT_TRUE(test::eventually([&] { return !locks_at_primary(); }));
}

TEST_F(redis_tls_of_many, refuses_a_primary_of_another_name_though_its_sentinel_is_right) {
  const member primary = start("other");
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const member sentinel = start("numbers", {"--sentinel", "--tls-replication", "yes"}, lines);
  const auto [why, text] = refusal("rediss+sentinel://" + address(sentinel) + "/shop" + trust());
  EXPECT_EQ(why, errc::denied) << text;
}

TEST_F(redis_tls_of_many, works_with_all_nodes_of_a_cluster) {
  const auto node = [] {
    return start("numbers", {"--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port",
                             std::to_string(test::free_port())});
  };
  const member one = node(), other = node();
  const auto bus = one.server->ask({"CONFIG", "GET", "cluster-port"}).items.at(1).text;
  (void)other.server->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(one.port), bus});
  (void)one.server->ask({"CLUSTER", "ADDSLOTSRANGE", "0", "8000"});
  (void)other.server->ask({"CLUSTER", "ADDSLOTSRANGE", "8001", "16383"});
  for (const member* each : {&one, &other}) {
    EXPECT_TRUE(test::eventually(
        [&] { return each->server->ask({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos; }));
  }
  const std::string url = "rediss+cluster://" + address(one) + trust();
  watched_client client(url);
  std::vector<lease> held;
  for (int n = 0; n < 8; ++n) held.push_back(client.store.acquire("name/" + std::to_string(n)));
  EXPECT_FALSE(one.server->keys("holdfast:{name/*").empty());
  EXPECT_FALSE(other.server->keys("holdfast:{name/*").empty());
  works(url, "a");
  works(url, "b");
}

TEST_F(redis_tls_of_many, works_with_a_majority_and_counts_a_server_of_another_name_as_a_vote_against) {
  const member one = start("numbers"), other = start("numbers"), wrong = start("other"), stranger = start("other");
  const std::string options = trust() + "&young_nodes=vote";
  works("redlocks://" + address(one) + "," + address(other) + "," + address(wrong) + options, "a");
  EXPECT_TRUE(wrong.server->keys("holdfast:*").empty());
  const auto [why, text] =
      refusal("redlocks://" + address(one) + "," + address(wrong) + "," + address(stranger) + options);
  EXPECT_EQ(why, errc::denied) << text;
}

}  // namespace
}  // namespace holdfast::faults
