#include "redis/redlock/redlock.hpp"

#include <gtest/gtest.h>

#include <string>

#include "holdfast/error.hpp"
#include "storage/answer.hpp"
#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redlock_url, names_several_servers) {
  const redlock all = redlock::parse("redlock://a,b:7000,[::1]:7001");
  ASSERT_EQ(all.servers.size(), 3u);
  EXPECT_EQ(all.servers[0].where(), "a:6379");
  EXPECT_EQ(all.servers[1].where(), "b:7000");
  EXPECT_EQ(all.servers[2].where(), "[::1]:7001");
  EXPECT_EQ(all.max_ttl, 30s);
  EXPECT_FALSE(all.young_ones_vote);
}

TEST(redlock_url, applies_credentials_database_and_options_to_all) {
  const redlock all = redlock::parse("redlock://me:a%2Cb@a,b,c/3?prefix=shop:&max_ttl=2m&timeout=300ms");
  for (const settings& each : all.servers) {
    EXPECT_EQ(each.user, "me");
    EXPECT_EQ(each.password, "a,b");
    EXPECT_EQ(each.database, 3);
    EXPECT_EQ(each.prefix, "shop:");
    EXPECT_EQ(each.timeout, 300ms);
  }
  EXPECT_EQ(all.max_ttl, 2min);
}

TEST(redlock_url, has_an_option_for_the_minimum_margin) {
  EXPECT_EQ(redlock::parse("redlock://a,b,c").min_margin, 0u);
  EXPECT_EQ(redlock::parse("redlock://a,b,c?min_margin=1").min_margin, 1u);
  EXPECT_EQ(redlock::parse("redlock://a,b,c,d,e?min_margin=2").min_margin, 2u);
  EXPECT_EQ(redlock::shown("redlock://a,b,c?min_margin=1"), "redlock://a,b,c?min_margin=1");
}

TEST(redlock_url, selects_tls_by_its_scheme) {
  for (const settings& each : redlock::parse("redlocks://a,b,c").servers) EXPECT_TRUE(each.tls);
  for (const settings& each : redlock::parse("redlock://a,b,c").servers) EXPECT_FALSE(each.tls);
}

TEST(redlock_url, names_unix_sockets) {
  const redlock all = redlock::parse("redlock+unix:///run/a,/run/b,/run/c?young_nodes=vote&db=2");
  ASSERT_EQ(all.servers.size(), 3u);
  EXPECT_EQ(all.servers[2].path, "/run/c");
  EXPECT_EQ(all.servers[2].database, 2);
  EXPECT_TRUE(all.young_ones_vote);
}

TEST(redlock_url, is_rejected_with_a_reason_if_invalid) {
  EXPECT_TRUE(has(refusal<redlock>("redlock://a"), "from 3 to 32"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b"), "from 3 to 32"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,a:6379"), "a:6379 is given twice"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,,b"), "no server"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c,"), "no server"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c:x"), "port"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?max_ttl=0"), "max_ttl"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?max_ttl=1s&max_ttl=2s"), "twice"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?max_ttl"), "empty"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?young_nodes=no"), "young_nodes"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?min_margin=2"), "from 0 to 1 with 3 servers"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c,d?min_margin=2"), "from 0 to 1 with 4 servers"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c,d,e?min_margin=3"), "from 0 to 2 with 5 servers"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?min_margin=-1"), "min_margin"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?min_margin=1x"), "min_margin"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?colour=red"), "no option 'colour'"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?max_tll=9s"), "max_ttl, young_nodes, min_margin, prefix"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?wait_replicas=1"), "wait_replicas"));
  EXPECT_TRUE(has(refusal<redlock>("redlock://a,b,c?wait_aof=local"), "wait_aof"));
  EXPECT_TRUE(has(refusal<redlock>("redlock+unix://host/a,/b,/c"), "redlock+unix:///path"));
  EXPECT_EQ(refusal<redlock>("redlock://a,b,c,d"), "(taken)") << "an even number is as good as one less";
}

TEST(redlock_url, never_shows_its_password) {
  for (const char* const bad : {"redlock://me:secret@a,b", "redlock://me:secret@a,b,c:x", "redlock://:secret@a,,b",
                                "redlock://me:secret@a,b,c?password=secret"}) {
    EXPECT_FALSE(has(refusal<redlock>(bad), "secret")) << refusal<redlock>(bad);
  }
  EXPECT_EQ(redlock::shown("redlock://me:secret@a,b,c?max_ttl=9s&young_nodes=vote&password=secret"),
            "redlock://me@a,b,c?max_ttl=9s&young_nodes=vote");
}

TEST(redlock_url, rejects_a_password_before_each_server) {
  for (const char* const bad : {"redlock://:secret@a,:secret@b,c", "redlock://:secret@a,:secret@b,:secret@c",
                                "redlock://a,me:secret@b,c,d", "redlock+unix://:secret@/a,:secret@/b,/c"}) {
    EXPECT_TRUE(has(refusal<redlock>(bad), "stand once, before the first")) << bad;
    EXPECT_FALSE(has(refusal<redlock>(bad), "ret@")) << refusal<redlock>(bad);
  }
  EXPECT_FALSE(has(refusal<redlock>("redlock+unix:///run/redis@1,/run/b,/run/c"), "stand once")) << "it is a path";
  EXPECT_EQ(redlock::parse("redlock://:a@b@a,b,c").servers.at(0).password, "a@b") << "it can only mean one thing";
}

TEST(redlock_findings, report_that_young_servers_vote) {
  const auto level = [](const char* url) { return redlock::parse(url).findings().at(0).level; };
  EXPECT_EQ(level("redlock://a,b,c"), finding::severity::fine);
  EXPECT_EQ(level("redlock://a,b,c?young_nodes=vote"), finding::severity::warning);
}

}  // namespace
}  // namespace holdfast::redis
