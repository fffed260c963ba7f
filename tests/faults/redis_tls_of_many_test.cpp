// TLS with several servers: each is verified, also those that are found through the others.
#include <gtest/gtest.h>

#include <filesystem>

#include "faults/redis_store.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/slots.hpp"
#include "support/certificates.hpp"
#include "support/found.hpp"

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

TEST_F(redis_tls_of_many, works_with_a_primary_named_by_a_sentinel) {
  const member primary = start("numbers");
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const member sentinel = start("numbers", {"--sentinel", "--tls-replication", "yes"}, lines);
  works("rediss+sentinel://" + address(sentinel) + "/shop" + trust(), "a");
}

TEST_F(redis_tls_of_many, examines_sentinels_after_its_files_are_gone) {
  const member primary = start("numbers");
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const member sentinel = start("numbers", {"--sentinel", "--tls-replication", "yes"}, lines);
  std::filesystem::copy_file(made->file("ca.crt"), made->file("gone.crt"));
  watched_client client("rediss+sentinel://" + address(sentinel) + "/shop?ca=" + made->file("gone.crt"));
  std::filesystem::remove(made->file("gone.crt"));
  EXPECT_TRUE(test::is(client.store.examine(), "redis.sentinel_views", finding::severity::fine));
}

/// It dies before it names it; the other one never does.
TEST_F(redis_tls_of_many, works_with_a_promoted_replica) {
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

TEST_F(redis_tls_of_many, rejects_a_primary_with_another_name) {
  const member primary = start("other");
  const std::string lines = "sentinel monitor shop 127.0.0.1 " + std::to_string(primary.port) + " 1\n";
  const member sentinel = start("numbers", {"--sentinel", "--tls-replication", "yes"}, lines);
  const auto [why, text] = refusal("rediss+sentinel://" + address(sentinel) + "/shop" + trust());
  EXPECT_EQ(why, errc::denied) << text;
}

/// Two nodes with half of the slots each.
class redis_tls_cluster : public redis_tls_of_many {
 protected:
  redis_tls_cluster() {
    join(other);
    (void)one.server->ask({"CLUSTER", "ADDSLOTSRANGE", "0", "8000"});
    (void)other.server->ask({"CLUSTER", "ADDSLOTSRANGE", "8001", "16383"});
    for (const member* each : {&one, &other}) {
      EXPECT_TRUE(test::eventually([&] { return says(*each, {"CLUSTER", "INFO"}, "cluster_state:ok"); }));
    }
  }
  static member node() {
    return start("numbers", {"--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port",
                             std::to_string(test::free_port())});
  }
  static bool says(const member& m, std::initializer_list<std::string_view> question, const std::string& words) {
    return m.server->ask(question).text.find(words) != std::string::npos;
  }
  static std::string id(const member& m) { return m.server->ask({"CLUSTER", "MYID"}).text; }
  void join(const member& joins) const {
    const auto bus = one.server->ask({"CONFIG", "GET", "cluster-port"}).items.at(1).text;
    (void)joins.server->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(one.port), bus});
    EXPECT_TRUE(test::eventually(
        [&] { return says(one, {"CLUSTER", "NODES"}, id(joins)) && says(joins, {"CLUSTER", "NODES"}, id(one)); }));
  }
  /// From the first one, with its keys.
  void move(const std::string& slot, const member& to) const {
    EXPECT_EQ(to.server->ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(one)}).text, "OK");
    EXPECT_EQ(one.server->ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)}).text, "OK");
    for (const redis::value& key : one.server->ask({"CLUSTER", "GETKEYSINSLOT", slot, "100"}).items) {
      EXPECT_EQ(one.server->ask({"MIGRATE", "127.0.0.1", std::to_string(to.port), key.text, "0", "60000"}).text, "OK");
    }
    for (const member* each : {&to, &one}) {
      EXPECT_EQ(each->server->ask({"CLUSTER", "SETSLOT", slot, "NODE", id(to)}).text, "OK");
    }
  }
  const member one = node(), other = node();
};

TEST_F(redis_tls_cluster, works_with_all_its_nodes) {
  const std::string url = "rediss+cluster://" + address(one) + trust();
  watched_client client(url);
  std::vector<lease> held;
  for (int n = 0; n < 8; ++n) held.push_back(client.store.acquire("name/" + std::to_string(n)));
  EXPECT_FALSE(one.server->keys("holdfast:{name/*").empty());
  EXPECT_FALSE(other.server->keys("holdfast:{name/*").empty());
  works(url, "a");
  works(url, "b");
}

/// Only the node in the URL is known before the files are gone.
TEST_F(redis_tls_cluster, needs_its_files_only_when_it_is_opened) {
  std::filesystem::copy_file(made->file("ca.crt"), made->file("rotated.crt"));
  watched_client client("rediss+cluster://" + address(one) + "?ca=" + made->file("rotated.crt"));
  std::filesystem::remove(made->file("rotated.crt"));
  std::vector<lease> held;
  for (int n = 0; n < 8; ++n) held.push_back(client.store.acquire("name/" + std::to_string(n), {.ttl = 2s}));
  EXPECT_FALSE(other.server->keys("holdfast:{name/*").empty());
  EXPECT_TRUE(client.seen->comes(event::kind::renewed, 2 * held.size()));
  for (lease& each : held) EXPECT_EQ(each.release(), released::yes);
}

/// Here the loop is the first to contact the new node.
TEST_F(redis_tls_cluster, renews_in_a_moved_slot_after_its_files_are_gone) {
  const member late = node();
  join(late);
  EXPECT_TRUE(test::eventually([&] { return says(late, {"CLUSTER", "INFO"}, "cluster_state:ok"); }));
  std::filesystem::copy_file(made->file("ca.crt"), made->file("moved.crt"));
  watched_client client("rediss+cluster://" + address(one) + "?ca=" + made->file("moved.crt"));
  std::string name = "a";
  while (redis::slot_of(redis::lock_key("holdfast:", name)) > 8000) name += "a";
  lease held = client.store.acquire(name, {.ttl = 6s});
  std::filesystem::remove(made->file("moved.crt"));
  move(std::to_string(redis::slot_of(redis::lock_key("holdfast:", name))), late);
  const std::size_t before = client.seen->events(event::kind::renewed).size();
  EXPECT_TRUE(client.seen->comes(event::kind::renewed, before + 2));
  EXPECT_EQ(held.release(), released::yes);
}

TEST_F(redis_tls_of_many, counts_a_server_with_another_name_as_a_vote_against) {
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
