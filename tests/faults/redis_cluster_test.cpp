// Nodes of a cluster that fail, and slots that move between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <set>

#include "faults/redis_store.hpp"
#include "redis/lock/client.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/slots.hpp"
#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "support/acl_in_the_document.hpp"
#include "support/found.hpp"
#include "support/redis_cluster.hpp"
#include "support/sanitizer.hpp"
#include "support/stepped_clock.hpp"

namespace holdfast::faults {
namespace {

using these = std::vector<std::string>;

std::string lock_of(const std::string& name) { return redis::lock_key("holdfast:", name); }
std::uint16_t slot_of(const std::string& name) { return redis::slot_of(lock_of(name)); }

these names(const store& s) {
  these all;
  std::string after;
  do {
    const listing page = s.list("", after);
    for (const listing::entry& each : page.names) all.push_back(each.name);
    after = page.next;
  } while (!after.empty());
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the number of our channels that have subscribers at this node.
std::size_t inboxes(test::redis_cluster& all, std::size_t node) {
  return all.ask(node, {"PUBSUB", "SHARDCHANNELS"}).items.size();
}

/// Three primaries that all of these tests share. Each test undoes what it does to them.
class redis_cluster : public testing::Test {
 protected:
  redis_cluster() : cluster(all()) { cluster.flush(); }
  [[nodiscard]] std::string url() const { return cluster.url("timeout=300ms"); }
  /// Moves the slot back at the end.
  struct moved_back {
    test::redis_cluster& cluster;
    std::uint16_t slot;
    ~moved_back() {
      cluster.flush();
      cluster.wait_until_moves_are_known();
      cluster.move(slot, 1, 0);
      cluster.wait_until_moves_are_known();
    }
  };
  test::redis_cluster& cluster;

 private:
  static test::redis_cluster& all() {
    static test::redis_cluster nodes;
    return nodes;
  }
};

TEST_F(redis_cluster, keeps_holder_and_queue_when_a_slot_moves) {
  const std::string name = cluster.name_at(0);
  const moved_back at_the_end{cluster, slot_of(name)};
  watched_client one(url()), other(url()), third(url());
  lease held = one.store.acquire(name, {.ttl = 20s});
  auto first = other.wait_for(name, {.ttl = 20s});
  auto second = third.wait_for(name, {.ttl = 20s});
  cluster.move(slot_of(name), 0, 1);
  EXPECT_TRUE(test::eventually([&] { return inboxes(cluster, 1) >= 2; })) << "they listen at the new node";
  EXPECT_TRUE(held.held());
  EXPECT_EQ(one.store.inspect(name).waiting, 2u);
  EXPECT_EQ(held.release(), released::yes);
  std::optional<lease> next = test::get(std::move(first));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_NE(second.wait_for(0s), std::future_status::ready) << "it came later";
  EXPECT_EQ(next->release(), released::yes);
  EXPECT_TRUE(test::get(std::move(second)));
}

TEST_F(redis_cluster, needs_only_the_documented_permissions) {
  const std::string name = cluster.name_at(0), elsewhere = cluster.name_at(2);
  const std::uint16_t slot = slot_of(name);
  const moved_back at_the_end{cluster, slot};
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    (void)cluster.ask(n, {"ACL", "LOG", "RESET"});
    for (const char* line : {"redis-cli ACL SETUSER holdfast on", "redis-cli ACL SETUSER holdfast '+asking'"}) {
      EXPECT_EQ(cluster.ask(n, test::acl_in_the_document(line)).text, "OK");
    }
  }
  const std::string rightful = cluster.url("timeout=300ms", "holdfast:a%20secret@");
  watched_client one(rightful), other(rightful);
  lease held = one.store.acquire(name, {.ttl = 20s});
  auto waiting = other.wait_for(name, {.ttl = 20s});
  cluster.begin_to_move(slot, 0, 1);
  cluster.move_keys(slot, 0, 1);
  EXPECT_TRUE(held.renew(20s)) << "it is asked for where the slot goes to";
  cluster.end_move(slot, 1);
  EXPECT_TRUE(test::eventually([&] { return inboxes(cluster, 1) >= 1; }));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_EQ(one.store.acquire({name, elsewhere}, {.ttl = 20s}).release(), released::yes);
  EXPECT_TRUE(one.store.list().names.empty());
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    for (const redis::value& entry : cluster.ask(n, {"ACL", "LOG"}).items) {
      ADD_FAILURE() << "a node has refused something: " << entry.items.at(5).text;
    }
  }
}

TEST_F(redis_cluster, renews_a_lock_while_its_slot_migrates) {
  const std::string name = cluster.name_at(0);
  const std::uint16_t slot = slot_of(name);
  const moved_back at_the_end{cluster, slot};
  watched_client one(url());
  lease held = one.store.acquire(name, {.ttl = 2s});
  const auto renewed = [&] { return one.seen->events(event::kind::renewed).size(); };
  const auto trouble = [&] {
    std::string all;
    for (const event::kind what : {event::kind::suspect, event::kind::lost}) {
      for (const test::recorder::entry& each : one.seen->events(what)) all.append("; ").append(each.text);
    }
    return all;
  };
  cluster.begin_to_move(slot, 0, 1);
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed() + 4))
      << "for more than its ttl, where it was" << trouble();
  cluster.move_keys(slot, 0, 1);
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed() + 4)) << "and where it goes" << trouble();
  cluster.end_move(slot, 1);
  EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed() + 2));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

TEST_F(redis_cluster, grants_a_lock_requested_during_migration_afterwards) {
  const std::string name = cluster.name_at(0);
  const std::uint16_t slot = slot_of(name);
  const moved_back at_the_end{cluster, slot};
  watched_client one(url()), impatient(url(), 3s);
  cluster.begin_to_move(slot, 0, 1);
  const auto [why, text] = failure_of([&] { (void)impatient.store.acquire(name); });
  EXPECT_EQ(why, errc::not_ready) << text;
  EXPECT_NE(text.find("TRYAGAIN"), std::string::npos) << text;
  auto got = std::async(std::launch::async, [&] { return one.store.try_acquire(name, within(test::hang)); });
  const auto refused = [&] {
    return cluster.ask(1, {"INFO", "errorstats"}).text.find("TRYAGAIN") != std::string::npos;
  };
  EXPECT_TRUE(test::eventually(refused));
  cluster.end_move(slot, 1);
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_F(redis_cluster, follows_ask_and_moved_redirects) {
  watched_client one(url());
  std::string name;
  for (int n = 0; name.empty(); ++n) {
    const std::string tried = "latch/" + std::to_string(n);
    if (cluster.home_of(lock_of(tried)) == 0) name = std::to_string(n);
  }
  const std::uint16_t slot = slot_of("latch/" + name);
  const moved_back at_the_end{cluster, slot};
  latch done(one.store, name, 1);
  done.count_down();
  cluster.begin_to_move(slot, 0, 1);
  cluster.move_keys(slot, 0, 1);
  EXPECT_TRUE(done.try_wait()) << "with ASKING";
  cluster.end_move(slot, 1);
  EXPECT_TRUE(done.try_wait()) << "with MOVED";
}

TEST_F(redis_cluster, lists_inspects_and_revokes_on_all_nodes) {
  watched_client one(url()), other(url());
  these all;
  std::map<std::string, lease> held;
  for (std::size_t node = 0; node < 3; ++node) {
    for (int n = 0; n < 30; ++n) {
      all.push_back(cluster.name_at(node, n));
      held.emplace(all.back(), one.store.acquire(all.back(), {.ttl = 3s}));
    }
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(names(other.store), all);
  EXPECT_EQ(failure_of([&] { (void)other.store.list("", "17@nowhere.example:1"); }).first, std::error_code())
      << "a node that is gone is skipped";
  EXPECT_EQ(failure_of([&] { (void)other.store.list("", "17"); }).first, errc::bad_option);
  for (std::size_t node = 0; node < 3; ++node) {
    const std::string name = cluster.name_at(node);
    lease& mine = held.at(name);
    const state is = other.store.inspect(name);
    ASSERT_EQ(is.holders.size(), 1u);
    EXPECT_EQ(is.holders[0].fence, mine.fence());
    EXPECT_EQ(is.holders[0].pid, ::getpid()) << "its record lies in another slot";
    EXPECT_TRUE(other.store.revoke(name, "please"));
    EXPECT_TRUE(happens(mine.revoke_requested()));
    const std::stop_token lost = mine.lost_token();
    EXPECT_TRUE(other.store.break_lock(name, mine.fence(), "it hangs"));
    EXPECT_TRUE(happens(lost));
  }
}

TEST_F(redis_cluster, takes_names_with_one_tag_in_one_step_and_others_singly) {
  watched_client one(cluster.url("timeout=300ms&prefix=")), other(cluster.url("timeout=300ms&prefix="));
  const std::size_t home = cluster.home_of("{shop}a");
  {
    const lease both = one.store.acquire({"{shop}a", "{shop}b"});
    EXPECT_EQ(cluster.ask(home, {"EXISTS", "{shop}a", "{shop}b"}).number, 2);
    EXPECT_FALSE(other.store.try_acquire("{shop}b"));
  }
  const lease apart = one.store.acquire({"{shop}a", "a", "b", "c", "d", "}odd"});
  for (const char* const name : {"{shop}a", "a", "b", "c", "d", "}odd"}) EXPECT_FALSE(other.store.try_acquire(name));
  EXPECT_TRUE(other.store.try_acquire("{shop}b"));
}

TEST_F(redis_cluster, is_examined_node_by_node) {
  watched_client one(url());
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::are_whole(all));
  EXPECT_TRUE(test::is(all, "redis.slots", finding::severity::fine));
  EXPECT_TRUE(test::is(all, "redis.shards", finding::severity::warning)) << "there are no replicas";
  for (const char* const id : {"redis.version", "redis.rights", "redis.clock"}) {
    for (std::size_t node = 0; node < 3; ++node) {
      EXPECT_TRUE(std::ranges::any_of(all,
                                      [&](const finding& each) {
                                        return each.id == id && each.what.starts_with(cluster.address(node)) &&
                                               each.level == finding::severity::fine;
                                      }))
          << id << " of node " << node;
    }
  }
}

/// Notes the first shard that is in doubt.
class first_doubt final : public storage::backend_events {
 public:
  void in_doubt(storage::shard which) noexcept override {
    if (!told_.test_and_set()) promise.set_value(which);
  }
  std::promise<storage::shard> promise;

 private:
  std::atomic_flag told_;
};

TEST_F(redis_cluster, reports_which_shard_is_in_doubt) {
  runtime::loop loop;
  const std::unique_ptr<redis::client> client = redis::client::open(url(), loop);
  first_doubt doubted;
  client->start(doubted);
  loop.start();
  runtime::inline_io here;
  const limit enough = within(test::hang);
  const auto take = [&](const std::string& name) {
    auto claim = client->open({.name = name, .owner = storage::owner_id::of(1, here.random()), .ttl = 20s});
    EXPECT_TRUE(run_inline(claim->poll(here, enough)).is_yes());
    return claim;
  };
  const std::string name = cluster.name_at(0);
  const moved_back at_the_end{cluster, slot_of(name)};
  {
    const auto one = take(name), same = take(cluster.name_at(0, 1)), other = take(cluster.name_at(1));
    EXPECT_NE(one->lies_on(), storage::no_shard);
    EXPECT_EQ(one->lies_on(), same->lies_on());
    EXPECT_NE(one->lies_on(), other->lies_on());
    (void)cluster.ask(1, {"CLIENT", "KILL", "TYPE", "normal"});
    EXPECT_EQ(test::get(doubted.promise.get_future()), other->lies_on());
    cluster.move(slot_of(name), 0, 1);
    EXPECT_TRUE(run_inline(one->renew(here, 20s, enough)).is_yes());
    EXPECT_EQ(one->lies_on(), other->lies_on()) << "it has moved";
  }
  client->close();
  loop.stop();
}

TEST_F(redis_cluster, is_found_through_any_node) {
  const std::string no_server = "127.0.0.1:" + std::to_string(test::free_port());
  watched_client one("redis+cluster://" + no_server + "," + cluster.address(2) + "?timeout=300ms");
  for (std::size_t node = 0; node < 3; ++node) {
    EXPECT_TRUE(one.store.try_acquire(cluster.name_at(node), within(test::hang)));
  }
}

TEST_F(redis_cluster, fails_when_no_node_is_reachable) {
  const std::string no_server = "127.0.0.1:" + std::to_string(test::free_port());
  watched_client one("redis+cluster://" + no_server + "?timeout=300ms", 300ms);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find(no_server), std::string::npos) << text;
}

TEST_F(redis_cluster, is_not_accepted_as_a_single_server_nor_vice_versa) {
  const auto one_node = failure_of([&] { (void)open("redis://" + cluster.address(0)).acquire("a"); });
  EXPECT_EQ(one_node.first, errc::unsupported);
  EXPECT_NE(one_node.second.find("redis+cluster://"), std::string::npos) << one_node.second;
  const int port = test::free_port();
  const test::redis_server alone({"--port", std::to_string(port), "--bind", "127.0.0.1"});
  const auto no_node =
      failure_of([&] { (void)open("redis+cluster://127.0.0.1:" + std::to_string(port)).acquire("a"); });
  EXPECT_EQ(no_node.first, errc::unsupported);
  EXPECT_NE(no_node.second.find("redis://"), std::string::npos) << no_node.second;
  EXPECT_EQ(failure_of([&] { (void)open("redis+cluster://" + cluster.address(0) + "/1"); }).first, errc::bad_url);
  EXPECT_EQ(failure_of([&] { (void)open(cluster.url("prefix={a}")); }).first, errc::bad_url);
}

TEST_F(redis_cluster, reports_loss_when_a_node_returns_empty) {
  const std::string name = cluster.name_at(0);
  watched_client one(url(), 20s), other(url(), 20s);
  lease held = one.store.acquire(name, {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  cluster.node(0).kill();
  cluster.node(0).start();
  cluster.wait_until_ok();
  const std::optional<lease> next = other.store.try_acquire(name, within(test::hang));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
  EXPECT_TRUE(happens(lost)) << "long before the ttl";
}

TEST(redis_cluster_with_clocks, raises_fences_when_a_slot_moves_to_a_slower_clock) {
  const test::stepped_clock clock;
  clock.set_ahead(1h);
  test::redis_cluster cluster({.first_environment = clock.environment()});
  const std::string name = cluster.name_at(0);
  watched_client one(cluster.url("timeout=300ms")), other(cluster.url("timeout=300ms"));
  lease held = one.store.acquire(name, {.ttl = 20s});
  auto waiting = other.wait_for(name, {.ttl = 20s});
  cluster.move(slot_of(name), 0, 1);
  EXPECT_EQ(held.release(), released::yes);
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence()) << "the last fence has moved with the slot";
}

TEST(redis_cluster_with_clocks, names_the_node_whose_clock_was_set) {
  const test::stepped_clock clock;
  test::redis_cluster cluster({.first_environment = clock.environment()});
  const std::string name = cluster.name_at(0), elsewhere = cluster.name_at(1);
  const std::string url = cluster.url("timeout=300ms");
  watched_client one(url, 20s), other(url, 20s);
  const lease held = one.store.acquire(name, {.ttl = 1h}), also = one.store.acquire(elsewhere, {.ttl = 1h});
  auto waiting = other.wait_for(name), waiting_elsewhere = other.wait_for(elsewhere);
  EXPECT_TRUE(other.seen->events(event::kind::warning).empty()) << "the clocks of two nodes are not compared";
  clock.set_ahead(10s);
  EXPECT_TRUE(other.seen->comes(event::kind::warning, 1));
  for (const test::recorder::entry& each : other.seen->events(event::kind::warning)) {
    EXPECT_NE(each.text.find(cluster.address(0) + ": the server's clock was set"), std::string::npos) << each.text;
  }
  other.store.close();
}

TEST(redis_cluster_with_a_password, accepts_clients_that_know_it) {
  test::redis_cluster cluster({.password = "secret"});
  watched_client one(cluster.url("timeout=300ms", ":secret@")), other(cluster.url("timeout=300ms", ":secret@"));
  for (std::size_t node = 0; node < 3; ++node) {
    lease held = one.store.acquire(cluster.name_at(node));
    auto waiting = other.wait_for(cluster.name_at(node));
    EXPECT_EQ(held.release(), released::yes);
    EXPECT_TRUE(test::get(std::move(waiting)));
  }
  const auto wrong = failure_of([&] { (void)open(cluster.url("", ":wrong@")).acquire("a"); });
  EXPECT_EQ(wrong.first, errc::denied) << wrong.second;
  const auto none = failure_of([&] { (void)open(cluster.url()).acquire("a"); });
  EXPECT_EQ(none.first, errc::denied) << none.second;
}

TEST(redis_cluster_with_replicas, keeps_replicated_locks_when_a_primary_dies) {
  test::redis_cluster cluster({.replicas = 3});
  const std::string name = cluster.name_at(0), elsewhere = cluster.name_at(1);
  watched_client one(cluster.url("timeout=300ms"), 20s), other(cluster.url("timeout=300ms"), 20s);
  lease held = one.store.acquire(name, {.ttl = 25s}), untouched = one.store.acquire(elsewhere, {.ttl = 25s});
  auto waiting = other.wait_for(name, {.ttl = 25s});
  const std::string slot = std::to_string(slot_of(name));
  const auto passed_on = [&] { return cluster.ask(3, {"CLUSTER", "COUNTKEYSINSLOT", slot}).number; };
  EXPECT_TRUE(test::eventually([&] { return passed_on() >= 3; })) << "the lock, its queue and its fence";
  cluster.node(0).kill();
  EXPECT_TRUE(test::eventually([&] { return inboxes(cluster, 3) >= 1; })) << "waiters listen at the new primary";
  cluster.wait_until_ok();  // the others know of it too
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_TRUE(untouched.held());
}

TEST(redis_cluster_with_replicas, releases_at_the_new_primary_what_the_old_one_granted) {
  test::redis_cluster cluster({.replicas = 3, .proxies = true});
  const std::string name = cluster.name_at(0);
  watched_client one(cluster.url("timeout=1s"), 20s);
  EXPECT_TRUE(one.store.try_acquire(name)) << "it knows the node";
  cluster.proxy(0).treat(fault_proxy::way::to_client, fault_proxy::treatment::swallow);
  auto got = std::async(std::launch::async, [&] { return one.store.acquire(name, {.ttl = 25s}); });
  EXPECT_TRUE(test::eventually([&] { return !cluster.node(0).keys(lock_of(name)).empty(); })) << "the reply is lost";
  cluster.node(0).kill();
  cluster.proxy(0).reset();
  lease held = got.get();
  EXPECT_EQ(held.release(), released::yes);
}

TEST(redis_cluster_with_replicas, reports_loss_of_an_unreplicated_lock_at_once) {
  test::redis_cluster cluster({.replicas = 3});
  const std::string name = cluster.name_at(0);
  watched_client one(cluster.url("timeout=300ms"), 20s), other(cluster.url("timeout=300ms"), 20s);
  cluster.node(3).stop();
  (void)cluster.ask(0, {"CLIENT", "KILL", "TYPE", "replica"});  // what comes now does not even wait in its socket
  lease held = one.store.acquire(name, {.ttl = 1h});
  const std::stop_token lost = held.lost_token();
  auto waiting = other.wait_for(name, {.ttl = 25s});
  cluster.node(0).kill();
  cluster.node(3).go_on();
  EXPECT_TRUE(happens(lost));
  const std::optional<lease> next = test::get(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), held.fence());
}

TEST(redis_cluster_with_replicas, closes_connections_to_nodes_without_slots) {
  test::redis_cluster cluster({.replicas = 3});
  const std::string name = cluster.name_at(0), url = "redis+cluster://" + cluster.address(1) + "?timeout=300ms";
  watched_client one(url, 20s), other(url, 20s);
  const auto is_connected = [&](std::size_t node) {
    return cluster.ask(node, {"CLIENT", "LIST"}).text.find("name=holdfast") != std::string::npos;
  };
  lease held = one.store.acquire(name, {.ttl = 25s});
  auto waiting = other.wait_for(name, {.ttl = 25s});
  EXPECT_TRUE(is_connected(0));
  EXPECT_EQ(cluster.ask(3, {"CLUSTER", "FAILOVER"}).text, "OK");
  // All nodes know of it, so that no client loads the old map.
  const auto is_replica_to = [&](std::size_t node) {
    const std::string all = cluster.ask(node, {"CLUSTER", "NODES"}).text;
    const std::string line = all.substr(all.find(cluster.id(0)));
    return line.substr(0, line.find('\n')).find("slave") != std::string::npos;
  };
  for (std::size_t node = 0; node < 6; ++node) {
    EXPECT_TRUE(test::eventually([&] { return is_replica_to(node); })) << node;
  }
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
  EXPECT_TRUE(test::eventually([&] { return !is_connected(0); })) << "it has no slots";
  for (const std::size_t node : {0U, 1U, 2U}) {
    EXPECT_TRUE(one.store.try_acquire(cluster.name_at(node), within(test::hang)));
  }
}

TEST(redis_cluster_that_lacks_a_slot, can_be_examined) {
  test::redis_cluster cluster;
  watched_client one(cluster.url());
  std::vector<lease> held;
  for (std::size_t node = 0; node < 3; ++node) held.push_back(one.store.acquire(cluster.name_at(node), {.ttl = 1h}));
  for (std::size_t node = 0; node < 3; ++node) (void)cluster.node(node).ask({"CLUSTER", "DELSLOTS", "7"});
  const auto is_down = [&](std::size_t node) {
    return cluster.node(node).ask({"GET", lock_of(cluster.name_at(node))}).text.starts_with("CLUSTERDOWN");
  };
  EXPECT_TRUE(test::eventually([&] { return is_down(0) && is_down(1) && is_down(2); }));
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::is(all, "redis.slots", finding::severity::danger));
  EXPECT_TRUE(test::is(all, "redis.node", finding::severity::danger));
  EXPECT_NE(test::found(all, "redis.node")->what.find("CLUSTERDOWN"), std::string::npos);
}

TEST(redis_cluster_with_a_hung_shard, loses_only_the_locks_of_that_shard) {
  test::redis_cluster cluster({.options = {"--cluster-require-full-coverage", "no"}});
  watched_client one(cluster.url("timeout=1s"));
  std::map<std::string, lease> held[3];
  constexpr int leases = HOLDFAST_UNDER_TSAN ? 1'000 : 4'000;  // as many as can be renewed in time
  for (int n = 0; n < leases; ++n) {
    const std::string name = "many/" + std::to_string(n);
    held[cluster.home_of(lock_of(name))].emplace(name, one.store.acquire(name, {.ttl = 5s}));
  }
  cluster.node(0).stop();
  EXPECT_TRUE(one.seen->comes(event::kind::lost, held[0].size()));
  for (const test::recorder::entry& each : one.seen->events(event::kind::lost))
    EXPECT_TRUE(held[0].contains(each.name)) << each.name << ' ' << each.text;
  for (const int node : {1, 2}) {
    for (const auto& [name, lease] : held[node]) EXPECT_TRUE(lease.held()) << name;
  }
  EXPECT_TRUE(one.store.try_acquire(cluster.name_at(1), within(test::hang)));
  watched_client doctor(cluster.url("timeout=300ms&connect_timeout=300ms"), 1s);
  EXPECT_TRUE(test::is(doctor.store.examine(), "redis.node", finding::severity::danger));
  cluster.node(0).go_on();
  EXPECT_TRUE(one.store.try_acquire(cluster.name_at(0), within(test::hang)));
}

/// The others are listed first, so that the listing does not ask again for the whole patience.
TEST(redis_cluster_with_a_dead_shard, is_listed_without_waiting_for_it) {
  test::redis_cluster cluster({.options = {"--cluster-require-full-coverage", "no"}});
  watched_client one(cluster.url("timeout=1s"));
  std::vector<lease> held;
  for (std::size_t node = 0; node < 3; ++node) held.push_back(one.store.acquire(cluster.name_at(node), {.ttl = 1h}));
  cluster.node(0).kill();
  const store looker = open(cluster.url("timeout=1s"), {.patience = 1h});
  auto listing = std::async(std::launch::async, [&] { return failure_of([&] { (void)names(looker); }); });
  const auto [why, text] = test::get(std::move(listing));
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find("the locks at " + cluster.address(0) + " are not listed"), std::string::npos) << text;
}

TEST(redis_cluster_with_a_hung_shard, lists_the_others_and_names_the_missing_shard) {
  test::redis_cluster cluster({.options = {"--cluster-require-full-coverage", "no"}});
  std::size_t still = 0;  // the one that would be asked first
  for (const std::size_t node : {1U, 2U}) {
    if (cluster.address(node) < cluster.address(still)) still = node;
  }
  // Until the record of a client is there: its name is not known then, but what it holds is.
  std::vector<std::unique_ptr<watched_client>> all;
  std::vector<lease> held;
  std::set<std::string> elsewhere;
  while (all.size() < 3 || cluster.node(still).keys("holdfast:client:*").empty()) {
    all.push_back(std::make_unique<watched_client>(cluster.url()));
    for (std::size_t node = 0; node < 3; ++node) {
      const std::string name = cluster.name_at(node, static_cast<int>(all.size()));
      held.push_back(all.back()->store.acquire(name, {.ttl = 1h}));
      if (node != still) elsewhere.insert(name);
    }
  }
  cluster.node(still).stop();
  const store looker = open(cluster.url("timeout=300ms&connect_timeout=300ms"), {.patience = 3s});
  std::set<std::string> seen;
  std::string after;
  const auto [why, text] = failure_of([&] {
    do {
      const listing page = looker.list("", after);
      for (const listing::entry& each : page.names) seen.insert(each.name);
      after = page.next;
    } while (!after.empty());
  });
  cluster.node(still).go_on();
  EXPECT_EQ(seen, elsewhere);
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_NE(text.find("the locks at " + cluster.address(still) + " are not listed"), std::string::npos) << text;
  EXPECT_TRUE(test::eventually([&] {  // it goes on from there
    try {
      const listing page = looker.list("", after);
      for (const listing::entry& each : page.names) seen.insert(each.name);
      after = page.next;
    } catch (const lock_error&) {
      return false;
    }
    return after.empty();
  }));
  EXPECT_EQ(seen.size(), held.size());
}

}  // namespace
}  // namespace holdfast::faults
