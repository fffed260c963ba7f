// Operators inspect and break locks on several servers while some of these are dead, empty or differ from the others.
#include <gtest/gtest.h>

#include <map>

#include "faults/redlock_servers.hpp"

namespace holdfast::faults {
namespace {

std::map<std::string, state> all_names(const store& s) {
  std::map<std::string, state> names;
  std::string after;
  do {
    listing page = s.list({}, after);
    for (listing::entry& each : page.names) {
      EXPECT_TRUE(names.emplace(std::move(each.name), std::move(each.now)).second) << "each comes once";
    }
    after = std::move(page.next);
  } while (!after.empty());
  return names;
}

void lock_for_another(redlock_servers& servers, std::size_t n, const std::string& name) {
  (void)servers[n].ask({"SET", redlock_servers::key(name), "another", "PX", "3600000"});
}

TEST(redlock_admin, works_while_any_minority_is_dead) {
  for (std::size_t dead = 0; dead < 3; ++dead) {
    redlock_servers servers(3);
    watched_client one(servers.url()), other(servers.url());
    lease a = one.store.acquire("a", {.ttl = 1h}), b = one.store.acquire("b", {.ttl = 1h, .label = "the report"});
    EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3 && servers.holding("b") == 3; }));
    servers[dead].kill();
    const std::map<std::string, state> names = all_names(other.store);
    ASSERT_EQ(names.size(), 2u);
    ASSERT_EQ(names.at("b").holders.size(), 1u);
    EXPECT_EQ(names.at("b").holders.front().label, "the report");
    EXPECT_EQ(names.at("b").holders.front().fence, b.fence());
    EXPECT_TRUE(other.store.break_lock("a", a.fence(), "it hangs"));
    EXPECT_TRUE(happens(a.lost_token()));
    EXPECT_EQ(other.store.inspect("a").broken.value().reason, "it hangs");
    EXPECT_TRUE(b.renew(1h));
  }
}

TEST(redlock_admin, lists_only_what_a_majority_has) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  const lease held = one.store.acquire("ours", {.ttl = 1h});
  // A server that is granted the lock after it was listed would count as one that has shown it.
  EXPECT_TRUE(test::eventually([&] { return servers.holding("ours") == 3; }));
  for (std::size_t n = 0; n < 3; ++n) lock_for_another(servers, n, "at-one-" + std::to_string(n));
  lock_for_another(servers, 1, "at-two");
  lock_for_another(servers, 2, "at-two");
  const std::map<std::string, state> names = all_names(one.store);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names.at("ours").holders.front().owner, held.owner());
  EXPECT_TRUE(names.at("at-two").holders.front().foreign);
}

/// With these limits a list that waited for the silent server would fail.
TEST(redlock_admin, lists_without_waiting_for_a_silent_server) {
  for (std::size_t silent = 0; silent < 3; ++silent) {
    redlock_servers servers(3);
    const std::string patient = servers.url_of("young_nodes=vote&max_ttl=1h&connect_timeout=1h&timeout=1h");
    watched_client one(servers.url()), known(patient, 1h), newcomer(patient, 1h);
    const lease held = one.store.acquire("a", {.ttl = 1h});
    EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
    EXPECT_EQ(all_names(known.store).size(), 1u) << "it has its connections";
    servers[silent].stop();
    for (watched_client* each : {&known, &newcomer}) {
      auto listing = std::async(std::launch::async, [&] { return all_names(each->store); });
      EXPECT_EQ(test::get(std::move(listing)).count("a"), 1u) << silent;
    }
    servers[silent].go_on();
  }
}

TEST(redlock_admin, is_unreachable_without_a_majority) {
  redlock_servers servers(3);
  watched_client one(servers.url(), 300ms);
  const lease held = one.store.acquire("a", {.ttl = 1h});
  servers[0].kill();
  servers[2].kill();
  EXPECT_EQ(failure_of([&] { (void)one.store.list(); }).first, errc::unreachable);
  EXPECT_EQ(failure_of([&] { (void)one.store.break_lock("a", held.fence(), ""); }).first, errc::unreachable);
}

TEST(redlock_admin, breaks_by_fence_although_a_server_has_a_higher_one) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  (void)servers[1].ask({"INCRBY", redlock_servers::key("a") + ":f", "1000"});
  EXPECT_TRUE(other.store.break_lock("a", held.fence(), "it hangs"));
  EXPECT_EQ(servers.holding("a"), 0u) << "it is taken at each server";
  EXPECT_FALSE(held.renew(1h));
  EXPECT_GT(other.store.acquire("a").fence(), held.fence() + 1'000);
}

TEST(redlock_admin, does_not_restore_a_broken_lock) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  // A break that has come to one server so far.
  const std::string key = redlock_servers::key("a");
  const std::string holder = servers[0].ask({"GET", key}).text.substr(17, 16);
  (void)servers[0].ask(
      {"SET", key + ":b", "0123456789abcdef" + holder + " 1 1 2 meit hangs"});  // by another fence, too
  (void)servers[0].ask({"DEL", key});
  const auto calls = [&] {
    const std::string all = servers[0].ask({"INFO", "commandstats"}).text;
    return std::stol(all.substr(all.find("cmdstat_evalsha:calls=") + 22));
  };
  const long before = calls();
  for (int n = 0; n < 3; ++n) EXPECT_TRUE(held.renew(1h));
  // Two of them are lost on a server that does not know the scripts.
  EXPECT_TRUE(test::eventually([&] { return calls() >= before + 5; })) << "it was renewed there and repaired";
  EXPECT_EQ(servers.holding("a"), 2u);
  EXPECT_EQ(held.margin(), 0u);
}

TEST(redlock_admin, leaves_the_lock_of_another_library_alone) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  for (const std::size_t n : {0u, 1u}) lock_for_another(servers, n, "a");
  const auto [why, text] = failure_of([&] { (void)one.store.break_lock("a", 1, "it hangs"); });
  EXPECT_EQ(why, errc::foreign) << text;
  EXPECT_EQ(servers.holding("a"), 2u);
}

TEST(redlock_admin, never_reports_free_if_a_silent_server_could_decide) {
  redlock_servers servers(3);
  watched_client one(servers.url()), patient(servers.url()), other(servers.url(), 500ms);
  lock_for_another(servers, 2, "a");
  lease held = one.store.acquire("a", {.ttl = 1h});
  servers[1].stop();
  const auto [why, text] = failure_of([&] { (void)other.store.break_lock("a", held.fence(), "it hangs"); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_EQ(failure_of([&] { (void)other.store.inspect("a"); }).first, errc::unreachable);
  EXPECT_FALSE(patient.store.break_lock("a", held.fence() + 1'000, "it hangs")) << "that is another's fence";
  servers[1].go_on();
  EXPECT_TRUE(held.renew(1h));
}

TEST(redlock_admin, does_not_take_a_vote_of_another_at_a_minority) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lock_for_another(servers, 2, "a");
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(other.store.break_lock("a", held.fence(), "it hangs"));
  EXPECT_EQ(servers[2].ask({"GET", redlock_servers::key("a")}).text, "another");
  EXPECT_FALSE(held.renew(1h));
}

}  // namespace
}  // namespace holdfast::faults
