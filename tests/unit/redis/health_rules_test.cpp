#include "redis/doctor/health_rules.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "redis/doctor/health_facts.hpp"
#include "support/found.hpp"

namespace holdfast::redis {
namespace {

using severity = finding::severity;
using test::is;
using pairs = std::map<std::string, std::string>;

server_info config_of(const pairs& all) {
  value reply{.what = value::kind::list, .number = 0, .text = {}, .items = {}};
  for (const auto& [name, text] : all) {
    for (const std::string& each : {name, text}) {
      reply.items.push_back({.what = value::kind::text, .number = 0, .text = each, .items = {}});
    }
  }
  return server_info::of_config(reply);
}

server_info info_of(const pairs& all) {
  std::string text;
  for (const auto& [name, value] : all) text.append(name).append(":").append(value).append("\r\n");
  return server_info::of_info(text);
}

std::vector<finding> judged_facts(const server_info& known) {
  storage::findings found;
  judge(known, found);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.take();
}

std::vector<finding> judged_report(const server_report& report) { return judged_facts(facts_about_server(report)); }

/// A server that keeps its locks, except for the given values.
std::vector<finding> judged_server(const pairs& config, const pairs& info = {}) {
  pairs good_config{{"maxmemory", "0"},
                    {"maxmemory-policy", "noeviction"},
                    {"appendonly", "yes"},
                    {"appendfsync", "always"},
                    {"save", ""},
                    {"min-replicas-to-write", "0"},
                    {"min-replicas-max-lag", "10"},
                    {"timeout", "0"},
                    {"tcp-keepalive", "300"}};
  pairs good_info{{"redis_version", "7.0.15"},        {"used_memory", "1000000"}, {"maxmemory", "0"},
                  {"maxmemory_policy", "noeviction"}, {"aof_enabled", "1"},       {"aof_last_write_status", "ok"},
                  {"rdb_last_bgsave_status", "ok"},   {"role", "master"},         {"connected_slaves", "0"},
                  {"connected_clients", "3"},         {"maxclients", "10000"}};
  for (const auto& [name, text] : config) good_config[name] = text;
  for (const auto& [name, text] : info) good_info[name] = text;
  return judged_report({info_of(good_info), config_of(good_config)});
}

severity level(const std::vector<finding>& all, std::string_view id) {
  const finding* const one = test::found(all, id);
  EXPECT_NE(one, nullptr) << id;
  return one == nullptr ? severity::fine : one->level;
}

TEST(health_rules, report_only_ok_for_a_server_that_keeps_its_locks) {
  const std::vector<finding> all = judged_server({});
  EXPECT_EQ(all.size(), 10u);
  for (const finding& each : all) EXPECT_EQ(each.level, severity::fine) << each.id;
}

TEST(health_rules, report_nothing_about_unknown_values) { EXPECT_TRUE(judged_report({}).empty()); }

TEST(health_rules, report_eviction_as_critical_if_memory_is_bounded) {
  for (const char* policy : {"allkeys-lru", "volatile-lru", "volatile-ttl", "allkeys-random"}) {
    const std::vector<finding> all = judged_server({{"maxmemory", "1000000000"}, {"maxmemory-policy", policy}});
    EXPECT_EQ(level(all, "redis.eviction"), severity::danger) << policy;
    EXPECT_NE(test::found(all, "redis.eviction")->cure.find("CONFIG SET maxmemory-policy noeviction"),
              std::string::npos);
  }
  EXPECT_EQ(level(judged_server({{"maxmemory-policy", "allkeys-lru"}}), "redis.eviction"), severity::note);
  EXPECT_EQ(level(judged_server({{"maxmemory", "1000000000"}}), "redis.eviction"), severity::fine);
}

TEST(health_rules, report_eviction_without_permission_for_settings) {
  const server_info bounded = info_of({{"maxmemory", "5"}, {"maxmemory_policy", "volatile-lfu"}});
  EXPECT_TRUE(is(judged_report({bounded, std::nullopt}), "redis.eviction", severity::danger));
}

TEST(health_rules, warn_when_memory_is_almost_used_up) {
  EXPECT_EQ(level(judged_server({{"maxmemory", "1100000"}}), "redis.memory"), severity::warning);
  EXPECT_EQ(level(judged_server({{"maxmemory", "2000000"}}), "redis.memory"), severity::fine);
}

TEST(health_rules, rate_persistence_by_what_a_restart_loses) {
  EXPECT_EQ(level(judged_server({{"appendfsync", "everysec"}}), "redis.persistence"), severity::note);
  EXPECT_EQ(level(judged_server({{"appendfsync", "no"}}), "redis.persistence"), severity::warning);
  const std::vector<finding> none = judged_server({{"appendonly", "no"}});
  EXPECT_EQ(level(none, "redis.persistence"), severity::warning);
  EXPECT_NE(test::found(none, "redis.persistence")->what.find("memory only"), std::string::npos);
  const std::vector<finding> at_redlock = judged_report(
      {.info = {}, .config = config_of({{"appendonly", "no"}, {"save", ""}}), .votes_after = std::chrono::seconds(30)});
  EXPECT_EQ(level(at_redlock, "redis.persistence"), severity::fine) << "it does not vote until they have expired";
  const std::vector<finding> snapshots = judged_server({{"appendonly", "no"}, {"save", "3600 1"}});
  EXPECT_EQ(level(snapshots, "redis.persistence"), severity::warning);
  EXPECT_NE(test::found(snapshots, "redis.persistence")->why.find("snapshot"), std::string::npos);
}

TEST(health_rules, warn_until_a_redlock_server_votes) {
  const auto of_age = [](const std::string& up, const std::string& sync) {
    return judged_report({.info = info_of({{"uptime_in_seconds", up}}),
                          .config = config_of({{"appendonly", "yes"}, {"appendfsync", sync}}),
                          .votes_after = std::chrono::seconds(30)});
  };
  const std::vector<finding> young = of_age("12", "everysec");
  EXPECT_EQ(level(young, "redlock.age"), severity::warning);
  EXPECT_EQ(test::found(young, "redlock.age")->what, "The server was started 12 s ago, and votes in 19 s.");
  EXPECT_EQ(level(of_age("31", "everysec"), "redlock.age"), severity::fine);
  EXPECT_EQ(level(of_age("0", "always"), "redlock.age"), severity::fine);
  EXPECT_EQ(test::found(of_age("", "everysec"), "redlock.age"), nullptr) << "the uptime is unknown";
}

TEST(health_rules, note_persistence_that_could_not_be_read) {
  const std::vector<finding> all = judged_report({info_of({{"aof_enabled", "1"}}), std::nullopt});
  EXPECT_TRUE(is(all, "redis.persistence", severity::note));
}

TEST(health_rules, report_failed_disk_writes) {
  EXPECT_EQ(level(judged_server({}, {{"aof_last_write_status", "err"}}), "redis.disk"), severity::danger);
  EXPECT_EQ(level(judged_server({}, {{"rdb_last_bgsave_status", "err"}}), "redis.disk"), severity::warning);
}

TEST(health_rules, name_the_primary_of_a_replica) {
  const pairs replica{
      {"role", "slave"}, {"master_host", "10.0.0.1"}, {"master_port", "6380"}, {"slave_read_only", "1"}};
  const std::vector<finding> all = judged_server({}, replica);
  EXPECT_EQ(level(all, "redis.role"), severity::danger);
  EXPECT_NE(test::found(all, "redis.role")->cure.find("redis://10.0.0.1:6380"), std::string::npos);
  EXPECT_EQ(test::found(all, "redis.replicas"), nullptr);
}

TEST(health_rules, warn_if_an_isolated_primary_grants_locks) {
  const pairs one{{"connected_slaves", "1"},
                  {"master_repl_offset", "500"},
                  {"slave0", "ip=10.0.0.2,port=6379,state=online,offset=500,lag=0"}};
  const std::vector<finding> all = judged_server({}, one);
  EXPECT_EQ(level(all, "redis.replicas"), severity::warning);
  EXPECT_EQ(level(all, "redis.takeover"), severity::note);
  EXPECT_EQ(level(all, "redis.lag"), severity::fine);
  EXPECT_EQ(level(judged_server({{"min-replicas-to-write", "1"}}, one), "redis.replicas"), severity::fine);
  const pairs switched_off{{"min-replicas-to-write", "1"}, {"min-replicas-max-lag", "0"}};
  EXPECT_EQ(level(judged_server(switched_off, one), "redis.replicas"), severity::warning);
}

TEST(health_rules, report_too_few_replicas_as_critical) {
  const pairs none_good{{"connected_slaves", "1"}, {"min_slaves_good_slaves", "0"}};
  EXPECT_EQ(level(judged_server({{"min-replicas-to-write", "1"}}, none_good), "redis.replicas"), severity::danger);
  EXPECT_EQ(level(judged_server({{"min-replicas-to-write", "2"}}), "redis.replicas"), severity::danger);
}

TEST(health_rules, name_a_lagging_replica) {
  const auto lag_of = [](const char* line) {
    return judged_server({}, {{"connected_slaves", "1"}, {"master_repl_offset", "9000000"}, {"slave0", line}});
  };
  for (const char* late :
       {"ip=10.0.0.2,port=6379,state=online,offset=9000000,lag=7", "ip=10.0.0.2,port=6379,state=online,offset=1,lag=0",
        "ip=10.0.0.2,port=6379,state=wait_bgsave,offset=0,lag=0"}) {
    const std::vector<finding> all = lag_of(late);
    EXPECT_EQ(level(all, "redis.lag"), severity::warning) << late;
    EXPECT_NE(test::found(all, "redis.lag")->what.find("10.0.0.2:6379"), std::string::npos);
  }
}

TEST(health_rules, survive_nonsensical_numbers) {
  const std::vector<finding> full = judged_server({{"maxmemory", "1"}}, {{"used_memory", "9223372036854775807"}});
  EXPECT_EQ(test::found(full, "redis.memory")->what.find('-'), std::string::npos);
  const std::vector<finding> behind =
      judged_server({}, {{"connected_slaves", "1"},
                         {"master_repl_offset", "9223372036854775807"},
                         {"slave0", "ip=a,port=1,state=online,offset=-9223372036854775808,lag=9223372036854775807"}});
  EXPECT_EQ(level(behind, "redis.lag"), severity::warning);
  EXPECT_EQ(test::found(behind, "redis.lag")->what.find('-'), std::string::npos);
}

TEST(health_rules, know_valkey_and_reject_old_versions) {
  EXPECT_EQ(level(judged_server({}, {{"redis_version", "6.2.14"}}), "redis.version"), severity::danger);
  const std::vector<finding> valkey = judged_server({}, {{"redis_version", "7.2.4"}, {"valkey_version", "8.0.1"}});
  EXPECT_EQ(test::found(valkey, "redis.version")->what, "The server is Valkey 8.0.1.");
}

TEST(health_rules, report_connection_limits_and_timeouts) {
  EXPECT_EQ(level(judged_server({}, {{"connected_clients", "95"}, {"maxclients", "100"}}), "redis.clients"),
            severity::warning);
  EXPECT_EQ(level(judged_server({{"timeout", "5"}}), "redis.timeout"), severity::note);
  EXPECT_EQ(level(judged_server({{"timeout", "300"}}), "redis.timeout"), severity::fine);
  EXPECT_EQ(level(judged_server({{"tcp-keepalive", "0"}}), "redis.keepalive"), severity::note);
}

std::vector<finding> way(const std::string& url) { return judged_facts(facts_about_connection(settings::parse(url))); }

TEST(health_rules, warn_about_plaintext_to_another_machine) {
  for (const char* near : {"redis://", "redis://localhost", "redis://127.0.0.1", "redis://[::1]", "redis+unix:///s"}) {
    EXPECT_TRUE(is(way(near), "redis.tls", severity::fine)) << near;
    EXPECT_TRUE(is(way(near), "redis.password", severity::fine)) << near;
  }
  EXPECT_TRUE(is(way("redis://:secret@locks.example"), "redis.tls", severity::warning));
  EXPECT_TRUE(is(way("redis://:secret@locks.example"), "redis.password", severity::fine));
  EXPECT_TRUE(is(way("redis://locks.example"), "redis.password", severity::warning));
  EXPECT_TRUE(is(way("rediss://:secret@locks.example"), "redis.tls", severity::fine));
}

TEST(health_rules, never_show_the_password) {
  for (const finding& each : way("redis://me:secret@locks.example")) {
    EXPECT_EQ((each.what + each.why + each.cure).find("secret"), std::string::npos) << each.id;
  }
}

std::vector<finding> of_waiting(const std::string& options, const pairs& info, const pairs& config = {}) {
  return judged_report(
      {.info = info_of(info), .config = config_of(config), .wait = settings::parse("redis://h?" + options).wait});
}

TEST(health_rules, report_a_wait_that_cannot_succeed_as_critical) {
  EXPECT_TRUE(is(of_waiting("wait_replicas=2", {{"connected_slaves", "1"}}), "redis.wait", severity::danger));
  EXPECT_TRUE(is(of_waiting("wait_replicas=2", {{"connected_slaves", "2"}}), "redis.wait", severity::fine));
  EXPECT_TRUE(is(of_waiting("wait_replicas=all", {{"connected_slaves", "0"}}), "redis.wait", severity::warning));
  EXPECT_TRUE(is(of_waiting("wait_replicas=majority", {{"connected_slaves", "1"}}), "redis.wait", severity::fine));
  const pairs alone{{"connected_slaves", "0"}};
  EXPECT_TRUE(is(of_waiting("wait_aof=local", alone, {{"appendonly", "no"}}), "redis.wait", severity::danger));
  EXPECT_TRUE(is(of_waiting("wait_aof=local", alone, {{"appendonly", "yes"}}), "redis.wait", severity::fine));
  EXPECT_EQ(test::found(of_waiting("", alone), "redis.wait"), nullptr);
}

std::vector<finding> of_sentinels(const std::vector<sentinel_view>& all) {
  return judged_facts(facts_about_sentinels(all, "shop"));
}

TEST(health_rules, require_three_sentinels_that_agree) {
  const sentinel_view a{.from = "a:1", .primary = "p:1", .others = 2, .quorum = 2};
  const sentinel_view b{.from = "b:1", .primary = "p:1", .others = 2, .quorum = 2};
  const sentinel_view c{.from = "c:1", .primary = "p:1", .others = 2, .quorum = 2};
  const std::vector<finding> good = of_sentinels({a, b, c});
  EXPECT_TRUE(is(good, "redis.sentinels", severity::fine));
  EXPECT_TRUE(is(good, "redis.sentinel_views", severity::fine));
  EXPECT_TRUE(is(of_sentinels({a, b}), "redis.sentinels", severity::note)) << "the third is not in the URL";
  sentinel_view stale = b;
  stale.primary = "old:1";
  EXPECT_TRUE(is(of_sentinels({a, stale}), "redis.sentinel_views", severity::danger));
  sentinel_view lonely = a;
  lonely.others = 1;
  EXPECT_TRUE(is(of_sentinels({lonely}), "redis.sentinels", severity::warning));
  lonely.quorum = 3;
  EXPECT_TRUE(is(of_sentinels({lonely}), "redis.sentinels", severity::danger));
  const std::vector<finding> silent = of_sentinels({a, {.from = "b:1", .why = "Connection refused"}});
  EXPECT_TRUE(is(silent, "redis.sentinel_silent", severity::warning));
  EXPECT_TRUE(is(good, "redis.sentinel_channels", severity::fine));
  sentinel_view deaf = a;
  deaf.deaf = "NOPERM";
  const std::vector<finding> not_heard = of_sentinels({deaf, b, c});
  EXPECT_TRUE(is(not_heard, "redis.sentinel_channels", severity::warning));
  EXPECT_NE(test::found(not_heard, "redis.sentinel_channels")->cure.find("ACL SETUSER shop '&+"), std::string::npos);
}

TEST(health_rules, report_slots_without_node_and_primaries_without_replica) {
  const auto of_slots = [](const std::vector<slot_range>& ranges) { return judged_facts(facts_about_cluster(ranges)); };
  const slot_range first{0, 8191, {"a", 1}, 1}, second{8192, 16383, {"b", 2}, 1}, alone{8192, 16383, {"b", 2}, 0};
  EXPECT_TRUE(is(of_slots({first, second}), "redis.slots", severity::fine));
  EXPECT_TRUE(is(of_slots({first, second}), "redis.shards", severity::fine));
  EXPECT_TRUE(is(of_slots({first}), "redis.slots", severity::danger));
  EXPECT_TRUE(is(of_slots({first, alone}), "redis.shards", severity::warning));
}

TEST(health_rules, warn_if_a_node_requires_full_coverage) {
  const pairs node{{"cluster_enabled", "1"}};
  EXPECT_TRUE(is(judged_server({{"cluster-require-full-coverage", "yes"}}, node), "redis.coverage", severity::warning));
  EXPECT_TRUE(is(judged_server({{"cluster-require-full-coverage", "no"}}, node), "redis.coverage", severity::fine));
  EXPECT_EQ(test::found(judged_server({{"cluster-require-full-coverage", "yes"}}), "redis.coverage"), nullptr)
      << "of one server";
}

}  // namespace
}  // namespace holdfast::redis
