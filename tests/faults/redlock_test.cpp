// A majority of independent servers keeps its promises while some servers die, stop, lose their state and come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <holdfast/once.hpp>
#include <optional>
#include <thread>

#include "api/service.hpp"
#include "faults/redlock_servers.hpp"
#include "quorum/client.hpp"
#include "redis/redlock/redlock.hpp"
#include "support/found.hpp"

namespace holdfast::faults {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(redlock, survives_a_dead_minority_of_three_and_of_five) {
  for (const std::size_t many : {3u, 5u}) {
    redlock_servers servers(many);
    watched_client one(servers.url()), other(servers.url());
    lease before = one.store.acquire("before", {.ttl = 3s});
    for (std::size_t n = 0; n < many / 2; ++n) servers[n].kill();
    lease after = one.store.acquire("after");
    EXPECT_FALSE(other.store.try_acquire("after"));
    EXPECT_FALSE(other.store.try_acquire("before"));
    const std::size_t renewed = one.seen->events(event::kind::renewed).size();
    EXPECT_TRUE(one.seen->comes(event::kind::renewed, renewed + 2));
    EXPECT_TRUE(before.held());
    EXPECT_EQ(before.release(), released::yes);
    EXPECT_EQ(after.release(), released::yes);
    EXPECT_TRUE(other.store.try_acquire("after"));
  }
}

TEST(redlock, is_unreachable_and_never_busy_without_a_majority) {
  redlock_servers servers(3);
  watched_client one(servers.url(), 300ms);
  EXPECT_TRUE(one.store.try_acquire("a"));
  servers[0].kill();
  servers[1].kill();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unreachable) << text;
  EXPECT_TRUE(has(text, servers[0].socket() + ":") && has(text, servers[1].socket() + ":")) << text;
  const auto [at_once, words] = failure_of([&] { (void)one.store.try_acquire("a"); });
  EXPECT_EQ(at_once, errc::unreachable) << words;
  servers[0].start();
  watched_client patient(servers.url());
  EXPECT_TRUE(patient.store.try_acquire("a", within(test::hang)));
}

TEST(redlock, reports_loss_by_the_deadline_without_a_majority) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1s});
  const std::stop_token lost = held.lost_token();
  servers[0].kill();
  servers[2].kill();
  EXPECT_TRUE(happens(lost));
  EXPECT_FALSE(held.held());
}

TEST(redlock, works_while_a_minority_hangs) {
  redlock_servers servers(3);
  watched_client one(servers.url()), late(servers.url());
  EXPECT_TRUE(one.store.try_acquire("before"));
  servers[1].stop();
  lease held = one.store.acquire("a", {.ttl = 2s});
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(late.store.try_acquire("a")) << "it connects while that one says nothing";
  servers[1].go_on();
}

TEST(redlock, leaves_no_lock_after_all_servers_hung) {
  redlock_servers servers(3);
  watched_client one(servers.url(), 300ms);
  EXPECT_TRUE(one.store.try_acquire("before"));
  servers[0].stop();
  servers[2].stop();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::unreachable) << text;
  servers[0].go_on();
  servers[2].go_on();
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 0; })) << "what it was given in vain is taken back";
  watched_client other(servers.url());
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST(redlock, takes_back_votes_that_arrive_after_the_caller_left) {
  redlock_servers servers(3);
  fault_proxy first(servers[0].socket()), second(servers[1].socket());
  watched_client one("redlock+unix://" + first.socket() + "," + second.socket() + "," + servers[2].socket() +
                         "?timeout=20s&young_nodes=vote&max_ttl=1h",
                     300ms);
  EXPECT_TRUE(one.store.try_acquire("before"));
  EXPECT_TRUE(test::eventually([&] { return servers.holding("before") == 0; }));
  first.treat(fault_proxy::way::to_server, fault_proxy::treatment::hold);
  second.treat(fault_proxy::way::to_client, fault_proxy::treatment::hold);
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 1h}); });
  EXPECT_EQ(why, errc::unreachable) << text;
  first.heal();
  second.heal();
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 0; }));
  // Nothing comes after that: the next one has it, and keeps it.
  lease next = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(next.renew(1h));
  EXPECT_EQ(next.release(), released::yes);
}

TEST(redlock, needs_three_of_four_servers) {
  redlock_servers servers(4);
  watched_client one(servers.url(), 300ms);
  servers[3].kill();
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_EQ(servers.holding("a"), 3u);
  EXPECT_EQ(held.release(), released::yes);
  servers[2].kill();
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a"); });
  EXPECT_EQ(why, errc::unreachable) << text;
}

TEST(redlock, grants_no_lock_on_a_tie_of_two_votes_each) {
  redlock_servers servers(4);
  watched_client one(servers.url());
  for (const std::size_t n : {0u, 1u})
    (void)servers[n].ask({"SET", redlock_servers::key("a"), "another", "PX", "60000"});
  EXPECT_FALSE(one.store.try_acquire("a"));
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 2; })) << "ours are taken back";
  EXPECT_EQ(one.store.inspect("a").holding, 0u);
}

/// Each server knows its inbox by another name; it is one holder all the same.
TEST(redlock, reports_busy_after_one_round_if_one_holder_has_all) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  const lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  const auto steps = [&] {
    long all = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      const std::string stats = servers[n].ask({"INFO", "commandstats"}).text, before = "cmdstat_evalsha:calls=";
      const std::size_t at = stats.find(before);
      if (at != std::string::npos) all += std::atol(stats.c_str() + at + before.size());
    }
    return all;
  };
  // A vote each, and perhaps its withdrawal; a server that is slow this time is asked again.
  EXPECT_TRUE(test::eventually([&] {
    const long before = steps();
    EXPECT_FALSE(other.store.try_acquire("a"));
    return steps() - before <= 6;
  }));
}

TEST(redlock, lets_two_clients_alternate_despite_split_votes) {
  redlock_servers servers(5);
  watched_client clients[] = {watched_client(servers.url()), watched_client(servers.url())};
  int inside = 0, turns = 0;  // plain: the lock is all that guards them
  std::vector<std::future<void>> both;
  for (watched_client& each : clients) {
    both.push_back(std::async(std::launch::async, [&] {
      for (int n = 0; n < 60; ++n) {
        const lease held = each.store.acquire("a", {.ttl = 20s});
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
      }
    }));
  }
  for (std::future<void>& each : both) test::get(std::move(each));
  EXPECT_EQ(turns, 120);
}

TEST(redlock, wakes_a_waiter_through_any_remaining_servers) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  auto waiting = other.wait_for("a", {.ttl = 1h});
  servers[0].kill();
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST(redlock, restores_a_forgotten_vote_at_the_next_renewal) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  lease held = one.store.acquire("a", {.ttl = 3s});
  servers[1].kill();
  servers[1].start();
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  EXPECT_TRUE(held.held());
  // So it outlives the loss of another one.
  servers[0].kill();
  EXPECT_TRUE(held.renew(3s));
}

TEST(redlock, never_restores_a_lock_that_a_majority_has_lost) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  for (const std::size_t n : {0u, 1u}) (void)servers[n].ask({"DEL", redlock_servers::key("a")});
  EXPECT_FALSE(held.renew(1h));
  EXPECT_FALSE(held.held());
  EXPECT_TRUE(other.store.try_acquire("a", within(test::hang)));
}

TEST(redlock, takes_back_the_other_votes_after_losing_a_majority) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
  for (const std::size_t n : {0u, 1u}) (void)servers[n].ask({"DEL", redlock_servers::key("a")});
  EXPECT_FALSE(held.renew(1h));
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 0; }));
}

TEST(redlock, forgets_a_waiter_that_no_longer_asks) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  lease held = one.store.acquire("a", {.ttl = 1h});
  const auto waiting = other.wait_for("a", {.ttl = 1h});
  const std::string line = redlock_servers::key("a") + ":q";
  EXPECT_TRUE(test::eventually([&] { return servers[0].ask({"ZCARD", line}).number == 1; }));
  EXPECT_LE(servers[0].ask({"PTTL", line}).number, 10'000);
  EXPECT_EQ(held.release(), released::yes);
}

TEST(redlock, does_not_let_a_young_server_vote) {
  // Servers that write everything to disk at once vote at any age.
  test::redis_server first({"--appendonly", "yes", "--appendfsync", "always"});
  test::redis_server second;
  test::redis_server third({"--appendonly", "yes", "--appendfsync", "always"});
  const std::string url = "redlock+unix://" + first.socket() + "," + second.socket() + "," + third.socket();
  constexpr auto ttl = 4s;
  third.kill();
  {
    // The second one is too young at first, and a majority is needed.
    watched_client early(url + "?max_ttl=1h", 300ms);
    const auto [why, text] = failure_of([&] { (void)early.store.acquire("a"); });
    EXPECT_TRUE(has(text, "votes in")) << text;
    EXPECT_EQ(why, errc::unreachable) << "the third one is dead";
  }
  watched_client one(url + "?max_ttl=4s", test::hang), other(url + "?max_ttl=4s");
  const lease held = one.store.acquire("a", {.ttl = ttl, .renew = false});  // when it is old enough
  second.kill();
  second.start();
  third.start();
  const std::optional<lease> next = other.store.try_acquire("a", {.ttl = ttl});
  if (held.held()) {
    EXPECT_FALSE(next) << "the second server has lost its vote and may not vote yet";
  }
  EXPECT_TRUE(next || other.store.try_acquire("a", within(test::hang), {.ttl = ttl})) << "in the end it votes again";
}

TEST(redlock, distinguishes_two_holders_by_fence_if_young_servers_vote) {
  redlock_servers servers(3);
  // The first client never reaches the third server, so it cannot restore its vote there.
  std::string cut_off = servers.url();
  cut_off.replace(cut_off.find(servers[2].socket()), servers[2].socket().size(), "/nowhere");
  watched_client one(cut_off), other(servers.url());
  const lease first = one.store.acquire("a", {.ttl = 1h, .renew = false});
  servers[1].kill();
  servers[1].start();
  const std::optional<lease> second = other.store.try_acquire("a", within(test::hang), {.ttl = 1h});
  ASSERT_TRUE(second);
  EXPECT_GT(second->fence(), first.fence());
  fence_gate resource;
  EXPECT_TRUE(resource.admit(second->fence()));
  EXPECT_FALSE(resource.admit(first.fence()));
}

TEST(redlock, raises_fences_even_if_servers_lose_theirs) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  std::uint64_t last = 0;
  for (std::size_t n = 0; n < 12; ++n) {
    lease held = one.store.acquire("a", {.ttl = 1h});
    EXPECT_GT(held.fence(), last);
    last = held.fence();
    EXPECT_EQ(held.release(), released::yes);
    (void)servers[n % 3].ask({"FLUSHALL"});
  }
}

TEST(redlock, writes_the_highest_fence_back_to_a_majority) {
  redlock_servers servers(3);
  const std::string last_fence = redlock_servers::key("a") + ":f";
  watched_client one(servers.url());
  EXPECT_TRUE(one.store.try_acquire("before"));
  // The first one has seen more: clocks of clients differ.
  const auto today = std::chrono::system_clock::now().time_since_epoch() + 1h;
  const std::int64_t ahead = std::chrono::duration_cast<std::chrono::microseconds>(today).count();
  (void)servers[0].ask({"SET", last_fence, std::to_string(ahead)});
  servers[2].kill();
  std::uint64_t fence = 0;
  {
    lease held = one.store.acquire("a", {.ttl = 1h});
    fence = held.fence();
    EXPECT_GT(fence, static_cast<std::uint64_t>(ahead));
    EXPECT_EQ(servers[1].ask({"GET", last_fence}).text, std::to_string(fence + 63));
    EXPECT_EQ(held.release(), released::yes);
  }
  // Other servers then know it when the first one is dead.
  servers[2].start();
  servers[0].kill();
  const std::optional<lease> next = one.store.try_acquire("a", within(test::hang), {.ttl = 1h});
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), fence + 63);
}

TEST(redlock, rejects_a_client_clock_that_is_a_day_ahead) {
  redlock_servers servers(3);
  const auto ahead_by = [&](std::chrono::hours by) {
    const auto make = [&, by](runtime::loop& loop) {
      const redis::redlock all = redis::redlock::parse(servers.url());
      const auto clock = [by] {
        const auto today = std::chrono::system_clock::now().time_since_epoch() + by;
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(today).count());
      };
      return std::make_unique<quorum::client>(
          all.open(loop), quorum::client::settings{.max_ttl = all.max_ttl, .clock = clock, .known = {}}, loop);
    };
    return detail::service::open(servers.url(), make, {.patience = 300ms});
  };
  const auto [why, text] = failure_of([&] { (void)ahead_by(25h).acquire("a"); });
  EXPECT_EQ(why, errc::not_ready) << text;
  EXPECT_TRUE(has(text, "more than a day ahead")) << text;
  EXPECT_EQ(servers.holding("a"), 0u);
  const std::uint64_t high = ahead_by(23h).acquire("a").fence();
  watched_client one(servers.url());
  EXPECT_GT(one.store.acquire("a").fence(), high) << "a client with a correct clock continues from that fence";
}

TEST(redlock, rejects_a_ttl_above_max_ttl) {
  redlock_servers servers(3);
  watched_client one(servers.url("young_nodes=vote"));
  const auto [why, text] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 31s}); });
  EXPECT_EQ(why, errc::bad_option) << text;
  EXPECT_TRUE(has(text, "max_ttl")) << text;
  const auto [with_delay, words] = failure_of([&] { (void)one.store.acquire("a", {.ttl = 20s, .delay = 11s}); });
  EXPECT_EQ(with_delay, errc::bad_option) << words;
  lease held = one.store.acquire("a", {.ttl = 30s});
  EXPECT_EQ(failure_of([&] { (void)held.renew(31s); }).first, errc::bad_option);
  EXPECT_TRUE(held.held());
}

TEST(redlock, excludes_libraries_that_use_set_nx) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  const auto set = [&](std::size_t n) {
    return servers[n].ask({"SET", redlock_servers::key("a"), "another", "NX", "PX", "60000"}).text == "OK";
  };
  {
    const lease held = one.store.acquire("a", {.ttl = 1h});
    EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 3; }));
    for (std::size_t n = 0; n < 3; ++n) EXPECT_FALSE(set(n));
  }
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 0; }));
  EXPECT_TRUE(set(0));
  EXPECT_TRUE(one.store.try_acquire("a")) << "one of three is not enough for another, either";
  EXPECT_TRUE(test::eventually([&] { return servers.holding("a") == 1; }));
  EXPECT_TRUE(set(1));
  EXPECT_FALSE(one.store.try_acquire("a"));
  const state is = one.store.inspect("a");
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_TRUE(is.holders.front().foreign);
}

TEST(redlock, never_shows_its_password) {
  redlock_servers servers(3, {"--requirepass", "right"});
  std::string paths;
  for (std::size_t n = 0; n < 3; ++n) paths.append(n == 0 ? "" : ",").append(servers[n].socket());
  const std::string options = "?young_nodes=vote&timeout=300ms";
  watched_client wrong("redlock+unix://:wrong%20secret@" + paths + options, 300ms);
  const auto [why, text] = failure_of([&] { (void)wrong.store.acquire("a"); });
  EXPECT_EQ(why, errc::denied) << text;
  EXPECT_FALSE(has(text, "secret")) << text;
  EXPECT_FALSE(has(wrong.store.url(), "secret")) << wrong.store.url();
  watched_client almost("redlock+unix://:WRONG@" + paths + options, 300ms);
  EXPECT_EQ(failure_of([&] { (void)almost.store.acquire("a"); }).first, errc::denied) << "a word of the server's own";
  watched_client right("redlock+unix://:right@" + paths + options);
  EXPECT_TRUE(right.store.try_acquire("a"));
  EXPECT_FALSE(has(right.store.url(), "right"));
}

TEST(redlock, reports_findings_of_each_server) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  servers[2].kill();
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::is(all, "redlock.young_nodes", finding::severity::warning));
  EXPECT_TRUE(test::is(all, "redlock.server", finding::severity::warning));
  for (const std::size_t n : {0u, 1u}) {
    const std::string where = servers[n].socket() + ": ";
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const finding& each) {
      return each.id == "redis.version" && each.what.starts_with(where);
    }));
  }
  servers[1].kill();
  EXPECT_TRUE(test::is(one.store.examine(), "redlock.server", finding::severity::danger)) << "no majority is left";
}

/// Returns whether a health check reported this about the server.
bool is_at(const std::vector<finding>& all, const test::redis_server& server, std::string_view id,
           finding::severity level) {
  return std::any_of(all.begin(), all.end(), [&](const finding& each) {
    return each.id == id && each.level == level && each.what.starts_with(server.socket() + ": ");
  });
}

TEST(redlock, reports_a_replica_among_its_servers) {
  redlock_servers servers(3);
  EXPECT_EQ(servers[1].ask({"REPLICAOF", "127.0.0.1", std::to_string(test::free_port())}).text, "OK");
  const std::vector<finding> all = watched_client(servers.url()).store.examine();
  EXPECT_TRUE(test::are_whole(all));
  EXPECT_TRUE(is_at(all, servers[0], "redis.role", finding::severity::fine));
  EXPECT_TRUE(is_at(all, servers[1], "redis.role", finding::severity::danger));
}

TEST(redlock, reports_servers_that_are_too_young_to_vote) {
  redlock_servers servers(3);
  EXPECT_EQ(servers[2].ask({"CONFIG", "SET", "appendonly", "yes", "appendfsync", "always"}).text, "OK");
  const std::vector<finding> all = watched_client(servers.url("max_ttl=1h")).store.examine();
  EXPECT_TRUE(test::are_whole(all));
  EXPECT_TRUE(is_at(all, servers[0], "redlock.age", finding::severity::warning));
  EXPECT_TRUE(is_at(all, servers[2], "redlock.age", finding::severity::fine)) << "it keeps all that it says";
  EXPECT_FALSE(test::found(watched_client(servers.url()).store.examine(), "redlock.age")) << "young_nodes=vote";
}

TEST(redlock, reports_a_server_with_two_names) {
  redlock_servers servers(3);
  const std::vector<finding> good = watched_client(servers.url()).store.examine();
  EXPECT_TRUE(test::is(good, "redlock.same_server", finding::severity::fine));
  const std::string first = servers[0].socket(), again = first + "-again", third = first + "-third";
  std::filesystem::create_symlink(first, again);
  std::filesystem::create_symlink(first, third);
  const std::string options = "?young_nodes=vote&timeout=300ms";
  const std::vector<finding> all =
      watched_client("redlock+unix://" + first + "," + again + "," + servers[1].socket() + options).store.examine();
  EXPECT_TRUE(test::are_whole(all));
  ASSERT_TRUE(test::is(all, "redlock.same_server", finding::severity::warning));
  EXPECT_TRUE(has(test::found(all, "redlock.same_server")->what, first + " and " + again));
  const std::vector<finding> only_one =
      watched_client("redlock+unix://" + first + "," + again + "," + third + options).store.examine();
  EXPECT_TRUE(test::is(only_one, "redlock.same_server", finding::severity::danger)) << "no majority can vote";
}

TEST(redlock, gives_one_vote_to_a_server_with_two_names) {
  redlock_servers servers(2);
  const std::string other_name = servers[0].socket() + "-again";
  std::filesystem::create_symlink(servers[0].socket(), other_name);
  watched_client one("redlock+unix://" + servers[0].socket() + "," + other_name + "," + servers[1].socket() +
                         "?young_nodes=vote&timeout=300ms",
                     500ms);
  const lease held = one.store.acquire("a");
  EXPECT_EQ(held.margin(), 0u);
  servers[1].kill();
  const std::string text = failure_of([&] { (void)one.store.acquire("b"); }).second;
  EXPECT_TRUE(has(text, "under another name")) << text;
}

TEST(redlock, runs_once_callers_one_after_the_other) {
  redlock_servers servers(3);
  watched_client one(servers.url()), other(servers.url());
  std::atomic<int> made{0};
  std::promise<void> begun;
  const auto look = [&] { return made == 1 ? std::optional(made.load()) : std::nullopt; };
  const auto make = [&]() -> std::optional<int> {
    begun.set_value();
    EXPECT_TRUE(test::eventually([&] { return !servers[0].keys(redlock_servers::key("a") + ":q").empty(); }))
        << "the other waits";
    return ++made;
  };
  auto first = std::async(std::launch::async, [&] { return once(one.store, "a", look, make); });
  begun.get_future().wait();
  EXPECT_EQ(once(other.store, "a", look, make), 1);
  EXPECT_EQ(first.get(), 1);
}

TEST(redlock, reports_unsupported_operations) {
  redlock_servers servers(3);
  watched_client one(servers.url());
  EXPECT_EQ(failure_of([&] { (void)one.store.acquire("a", {.shared = true}); }).first, errc::unsupported);
  EXPECT_EQ(failure_of([&] { (void)election(one.store, "a").campaign(); }).first, errc::unsupported);
  EXPECT_EQ(servers.holding("a"), 0u) << "there is no leadership that observers could not see";
  EXPECT_FALSE(one.store.promises().fair);
}

}  // namespace
}  // namespace holdfast::faults
