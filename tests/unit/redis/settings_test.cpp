#include "redis/protocol/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "storage/answer.hpp"
#include "support/temporary_folder.hpp"
#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(settings, have_defaults) {
  const settings s = settings::parse("redis://");
  EXPECT_EQ(s.host, "127.0.0.1");
  EXPECT_EQ(s.port, 6379);
  EXPECT_EQ(s.where(), "127.0.0.1:6379");
  EXPECT_FALSE(s.tls);
  EXPECT_EQ(s.user + s.password + s.path, "");
  EXPECT_EQ(s.database, 0);
  EXPECT_EQ(s.prefix, "holdfast:");
  EXPECT_EQ(s.name, "holdfast");
  EXPECT_EQ(s.timeout, 1s);
  EXPECT_EQ(s.connect_timeout, 2s);
  EXPECT_EQ(s.lanes, 4u);
  EXPECT_EQ(s.poll, 200ms);
  EXPECT_EQ(s.jitter, 0.5);
}

TEST(settings, are_read_from_every_part_of_a_url) {
  const settings s = settings::parse(
      "valkey://me:p%40w@db:7000/3?prefix=x:&timeout=300ms&connect_timeout=2m&name=web-1&lanes=16&poll=1s&jitter=0.25");
  EXPECT_EQ(s.host, "db");
  EXPECT_EQ(s.port, 7000);
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.password, "p@w");
  EXPECT_EQ(s.database, 3);
  EXPECT_EQ(s.prefix, "x:");
  EXPECT_EQ(s.timeout, 300ms);
  EXPECT_EQ(s.connect_timeout, 2min);
  EXPECT_EQ(s.name, "web-1");
  EXPECT_EQ(s.lanes, 16u);
  EXPECT_EQ(s.poll, 1s);
  EXPECT_EQ(s.jitter, 0.25);
}

TEST(settings, select_tls_by_scheme) {
  for (const std::string scheme : {"rediss", "valkeys"}) {
    const settings s = settings::parse(scheme + "://h?ca=/a&cert=/b&key=/c");
    ASSERT_TRUE(s.tls);
    EXPECT_EQ(s.tls->ca, "/a");
    EXPECT_EQ(s.tls->cert, "/b");
    EXPECT_EQ(s.tls->key, "/c");
    EXPECT_TRUE(settings::parse(scheme + "://h").tls);
  }
  for (const std::string option : {"ca", "cert", "key"}) {
    EXPECT_TRUE(has(refusal<settings>("redis://h?" + option + "=/a"), "rediss://")) << option;
    EXPECT_TRUE(has(refusal<settings>("redis+unix:///s?" + option + "=/a"), "rediss://")) << option;
  }
}

TEST(settings, take_the_path_of_a_unix_socket) {
  const settings s = settings::parse("redis+unix://me:pw@/run/redis/redis.sock?db=2&prefix=p:");
  EXPECT_EQ(s.path, "/run/redis/redis.sock");
  EXPECT_EQ(s.where(), "/run/redis/redis.sock");
  EXPECT_EQ(s.database, 2);
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.password, "pw");
  EXPECT_EQ(s.prefix, "p:");
  for (const std::string bad :
       {"redis+unix://", "redis+unix:///", "redis+unix://host/run/x", "redis+unix://run", "redis+unix://:6379/run/x"}) {
    EXPECT_TRUE(has(refusal<settings>(bad), "redis+unix:///path")) << bad;
  }
}

TEST(settings, take_the_sentinels_of_a_service) {
  const settings s = settings::parse("redis+sentinel://me:pw@a,[::1]:7,c:8/shop/3?sentinel_user=s&sentinel_password=x");
  ASSERT_TRUE(s.sentinels);
  EXPECT_EQ(s.where(), "the service shop of a:26379,[::1]:7,c:8");
  EXPECT_EQ(s.sentinels->service, "shop");
  EXPECT_EQ(s.sentinels->user + s.sentinels->password, "sx");
  EXPECT_EQ(s.user + s.password, "mepw") << "the servers have credentials of their own";
  EXPECT_EQ(s.database, 3);
  EXPECT_FALSE(s.tls);
  EXPECT_TRUE(settings::parse("rediss+sentinel://a/shop?ca=/x").tls);
  EXPECT_FALSE(settings::parse("redis://a").sentinels);
}

TEST(settings, reject_sentinels_without_host_or_service) {
  for (const std::string bad : {"redis+sentinel://", "redis+sentinel:///shop", "redis+sentinel://a,b",
                                "redis+sentinel://a/", "redis+sentinel://a//1"}) {
    EXPECT_TRUE(has(refusal<settings>(bad), "redis+sentinel://host[:port],host[:port],.../service")) << bad;
  }
  EXPECT_TRUE(has(refusal<settings>("redis+sentinel://a/shop/x"), "such as /1"));
  EXPECT_TRUE(has(refusal<settings>("redis://a,b"), "redis+sentinel://"));
  EXPECT_TRUE(has(refusal<settings>("redis+sentinel://a/shop?sentinel_user=x"), "sentinel_password_file="));
  for (const std::string option : {"sentinel_user", "sentinel_password"}) {
    const std::string why = refusal<settings>("redis://h?" + option + "=hush");
    EXPECT_TRUE(has(why, "redis+sentinel://")) << why;
    EXPECT_FALSE(has(why, "hush")) << why;
  }
}

TEST(settings, show_sentinels_without_their_passwords) {
  const std::string shown = settings::shown(
      "redis+sentinel://me:secret@a,b:7/shop/1?sentinel_password=secret&sentinel_user=s&sentinel_password_file=/f");
  EXPECT_EQ(shown, "redis+sentinel://me@a,b:7/shop/1?sentinel_user=s&sentinel_password_file=/f");
}

TEST(settings, read_the_wait_options) {
  using count = acknowledgement::count;
  using disks = acknowledgement::disks;
  EXPECT_FALSE(settings::parse("redis://h").wait.is_wanted());
  const acknowledgement two = settings::parse("redis://h?wait_replicas=2&wait_timeout=50ms").wait;
  EXPECT_TRUE(two.is_wanted() && two.by == count::number && two.replicas == 2 && two.limit == 50ms);
  EXPECT_EQ(settings::parse("redis://h?wait_replicas=majority").wait.by, count::majority);
  EXPECT_EQ(settings::parse("redis://h?wait_replicas=all").wait.by, count::all);
  EXPECT_EQ(settings::parse("redis://h?wait_replicas=all").wait.limit, 200ms);
  EXPECT_EQ(settings::parse("redis://h?wait_replicas=all&timeout=100ms").wait.limit, 50ms);
  EXPECT_EQ(settings::parse("redis://h?wait_aof=local").wait.on_disks, disks::local);
  EXPECT_EQ(settings::parse("redis://h?wait_aof=replicas&wait_replicas=1").wait.on_disks, disks::replicas);
}

TEST(settings, reject_nonsensical_wait_options) {
  for (const std::string bad : {"0", "", "-1", "some", "1001", "2x"}) {
    EXPECT_TRUE(has(refusal<settings>("redis://h?wait_replicas=" + bad), "such as 1, or majority, or all")) << bad;
  }
  EXPECT_TRUE(has(refusal<settings>("redis://h?wait_aof=yes"), "local or replicas"));
  EXPECT_TRUE(has(refusal<settings>("redis://h?wait_aof=replicas"), "needs wait_replicas"));
  EXPECT_TRUE(has(refusal<settings>("redis://h?wait_timeout=1s"), "needs wait_replicas or wait_aof"));
  EXPECT_TRUE(has(refusal<settings>("redis://h?wait_replicas=1&wait_timeout=1s"), "shorter than 'timeout'"));
}

TEST(settings, name_the_address_of_the_server) {
  EXPECT_EQ(settings::parse("redis://[::1]:7000").where(), "[::1]:7000");
  EXPECT_EQ(settings::parse("redis://u:secret@h").where(), "h:6379");
}

TEST(settings, accept_an_empty_prefix_and_name) {
  EXPECT_EQ(settings::parse("redis://h?prefix=").prefix, "");
  EXPECT_EQ(settings::parse("redis://h?name=").name, "");
}

TEST(settings, reject_a_database_that_is_not_a_number) {
  for (const std::string bad : {"x", "-1", "1x", "1000001", "1/", "%20", "0x1"}) {
    EXPECT_TRUE(has(refusal<settings>("redis://h/" + bad), "such as /1")) << bad;
    EXPECT_TRUE(has(refusal<settings>("redis+unix:///s?db=" + bad), "such as 1")) << bad;
  }
  EXPECT_NE(refusal<settings>("redis+unix:///s?db="), "(taken)");
  EXPECT_EQ(settings::parse("redis://h/1000000").database, 1'000'000);
}

TEST(settings, reject_an_invalid_time_with_an_example) {
  for (const std::string option : {"timeout", "connect_timeout", "poll"}) {
    for (const std::string bad :
         {"",  "0",  "0ms", "0.4ms", "-1s", "1.1h", "61m", "3600001ms", "3601", "1d",
          "s", "ms", "1 s", "1S",    "1e3", "inf",  "nan", "0x1",       "1s1s", "99999999999999999999s"}) {
      const std::string why = refusal<settings>("redis://h?" + option + "=" + bad);
      EXPECT_TRUE(has(why, "'" + option + "'") && has(why, "such as 500ms or 2s"))
          << option << '=' << bad << ": " << why;
    }
    EXPECT_EQ(refusal<settings>("redis://h?" + option + "=1ms"), "(taken)");
    EXPECT_EQ(refusal<settings>("redis://h?" + option + "=1h"), "(taken)");
  }
}

TEST(settings, accept_times_in_every_unit) {
  constexpr std::pair<const char*, milliseconds> times[] = {
      {"250ms", 250ms}, {"1.5s", 1500ms}, {".5s", 500ms}, {"2", 2s}, {"1.5m", 90s}, {"0.5h", 30min}, {"0.01d", 864s}};
  for (const auto& [text, time] : times) EXPECT_EQ(settings::parse(std::string("redis://h?poll=") + text).poll, time);
}

TEST(settings, reject_a_number_beyond_its_bounds) {
  for (const std::string bad : {"", "0", "257", "-1", "x", "4.5", "4x"}) {
    const std::string why = refusal<settings>("redis://h?lanes=" + bad);
    EXPECT_TRUE(has(why, "'lanes' is a number from 1 to 256")) << bad << ": " << why;
  }
  EXPECT_EQ(settings::parse("redis://h?lanes=256").lanes, 256u);
  for (const std::string bad : {"", "-0.1", "1.1", "x", "inf", "nan", "-nan", "0.5x"}) {
    EXPECT_TRUE(has(refusal<settings>("redis://h?jitter=" + bad), "'jitter' is a number from 0 to 1,")) << bad;
  }
  EXPECT_EQ(settings::parse("redis://h?jitter=0").jitter, 0.0);
  EXPECT_EQ(settings::parse("redis://h?jitter=1").jitter, 1.0);
}

TEST(settings, reject_a_prefix_that_would_change_slots) {
  for (const std::string bad : {"a{b", "a}", "{}", "%7Bx"})
    EXPECT_TRUE(has(refusal<settings>("redis://h?prefix=" + bad), "braces"));
  EXPECT_TRUE(has(refusal<settings>("redis://h?prefix=" + std::string(129, 'x')), "128"));
  EXPECT_EQ(refusal<settings>("redis://h?prefix=" + std::string(128, 'x')), "(taken)");
}

TEST(settings, reject_a_client_name_that_redis_would_reject) {
  for (const std::string bad : {"a%20b", "%0A", "a%7F", "h%C3%A4user"}) {
    EXPECT_TRUE(has(refusal<settings>("redis://h?name=" + bad), "Redis refuses others")) << bad;
  }
}

TEST(settings, reject_an_unknown_option_and_list_the_known_ones) {
  const std::string why = refusal<settings>("redis://h?colour=crimson");
  EXPECT_TRUE(has(why, "'colour'"));
  EXPECT_FALSE(has(why, "crimson")) << "the value may be a secret";
  for (const std::string_view option : {"prefix", "timeout", "connect_timeout", "name", "ca", "cert", "key",
                                        "password_file", "password_env", "lanes", "poll", "jitter"}) {
    EXPECT_TRUE(has(why, option)) << option;
  }
  EXPECT_FALSE(has(why, "sentinel_user") || has(why, "db")) << "they are for other URLs";
  EXPECT_TRUE(has(refusal<settings>("redis+unix:///s?colour=crimson"), "db"));
  EXPECT_TRUE(has(refusal<settings>("redis+sentinel://h/s?colour=crimson"), "sentinel_user"));
}

TEST(settings, read_the_password_from_a_file) {
  const test::temporary_folder folder;
  const std::string path = folder.file("secret");
  const auto written = [&](const std::string& text) {
    std::ofstream(path) << text;
    return settings::parse("redis://me@h?password_file=" + path).password;
  };
  EXPECT_EQ(written("s3cret\n"), "s3cret");
  EXPECT_EQ(written("s3cret"), "s3cret");
  EXPECT_EQ(written("s3cret\r\nmore\n"), "s3cret");
  EXPECT_EQ(written(" with blanks \n"), " with blanks ");
  const std::string gone = folder.file("gone");
  const auto why = [](const std::string& file) { return refusal<settings>("redis://me@h?password_file=" + file); };
  EXPECT_TRUE(has(why(gone), gone + ": No such file or directory")) << why(gone);
  EXPECT_TRUE(has(why(folder.file("")), "it is a directory")) << why(folder.file(""));
  for (const std::string empty : {"", "\n", "\r\nmore\n"}) {
    std::ofstream(path) << empty;
    EXPECT_TRUE(has(why(path), path + ": its first line is empty")) << why(path);
  }
  EXPECT_TRUE(has(why("/proc/self/mem"), "/proc/self/mem: Input/output error")) << why("/proc/self/mem");
}

TEST(settings, read_the_password_from_the_environment) {
  ::setenv("HOLDFAST_TEST_SECRET", "s3cret", 1);
  EXPECT_EQ(settings::parse("redis://h?password_env=HOLDFAST_TEST_SECRET").password, "s3cret");
  ::setenv("HOLDFAST_TEST_SECRET", "", 1);
  EXPECT_TRUE(has(refusal<settings>("redis://h?password_env=HOLDFAST_TEST_SECRET"), "is empty"));
  ::unsetenv("HOLDFAST_TEST_SECRET");
  EXPECT_TRUE(has(refusal<settings>("redis://h?password_env=HOLDFAST_TEST_SECRET"), "HOLDFAST_TEST_SECRET"));
}

TEST(settings, are_shown_with_all_options_and_without_the_password) {
  const std::string options =
      "?prefix=shop:&timeout=300ms&connect_timeout=2m&name=a%2Db&lanes=16&poll=1s&jitter=0.25&ca=/a&cert=/b&key=/c";
  EXPECT_EQ(settings::shown("rediss://me:pw@db:7000/3" + options), "rediss://me@db:7000/3" + options);
  EXPECT_EQ(settings::shown("rediss://:pw@db" + options), "rediss://db" + options);
  EXPECT_EQ(settings::shown("redis+unix:///s?db=2&prefix="), "redis+unix:///s?db=2&prefix=");
  EXPECT_EQ(settings::shown("redis://h?&prefix=x:&&"), "redis://h?prefix=x:");
  EXPECT_EQ(settings::shown("redis://h?pre%66ix=x:"), "redis://h?pre%66ix=x:");
}

TEST(settings, are_shown_with_user_and_source_of_the_password) {
  for (const std::string where : {"?password_file=/etc/secret", "?password_env=SECRET&prefix=x:"}) {
    EXPECT_EQ(settings::shown("redis://me@h" + where), "redis://me@h" + where);
    EXPECT_EQ(settings::shown("redis://h" + where), "redis://h" + where);
  }
  EXPECT_EQ(settings::shown("redis://s3cret@h?prefix=x:"), "redis://h?prefix=x:") << "it may have been meant as one";
}

TEST(settings, are_shown_without_unknown_options) {
  EXPECT_EQ(settings::shown("redis://h?password=s3cret&prefix=x:"), "redis://h?prefix=x:");
  EXPECT_EQ(settings::shown("redis://h?s3cret"), "redis://h");
  EXPECT_EQ(settings::shown("redis://h?%zzs3cret=1&lanes=2"), "redis://h?lanes=2");
  EXPECT_EQ(settings::shown("redis://u:a?prefix=s3cret@h"), "redis://u@h");
}

TEST(settings, reject_a_user_without_a_password) {
  EXPECT_TRUE(has(refusal<settings>("redis://me@h"), "redis://:password@host"));
  EXPECT_FALSE(has(refusal<settings>("redis://s3cret@h"), "s3cret")) << "it may have been meant as one";
}

TEST(settings, reject_a_second_password_and_show_neither) {
  ::setenv("HOLDFAST_TEST_SECRET", "s3cret", 1);
  const std::string why = refusal<settings>("redis://u:p4ss@h?password_env=HOLDFAST_TEST_SECRET");
  ::unsetenv("HOLDFAST_TEST_SECRET");
  EXPECT_TRUE(has(why, "twice"));
  EXPECT_FALSE(has(why, "s3cret") || has(why, "p4ss"));
}

}  // namespace
}  // namespace holdfast::redis
