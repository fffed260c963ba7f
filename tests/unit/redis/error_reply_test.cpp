#include "redis/protocol/error_reply.hpp"

#include <gtest/gtest.h>

#include <string>

#include "unit/redis/values.hpp"

namespace holdfast::redis {
namespace {

struct sample {
  std::string_view reply;
  errc code;
};

// Every first word that a server of Redis 7 and 8, Valkey 7.2 to 9, or a Sentinel can send, as one of them writes it.
constexpr sample samples[] = {
    {"ASK 866 127.0.0.1:7001", errc::unsupported},
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", errc::not_ready},
    {"BUSYGROUP Consumer Group name already exists", errc::not_ready},
    {"BUSYKEY Target key name already exists.", errc::not_ready},
    {"CLUSTERDOWN The cluster is down", errc::not_ready},
    {"CLUSTERDOWN Hash slot not served", errc::not_ready},
    {"CROSSSLOT Keys in request don't hash to the same slot", errc::unsupported},
    {"DENIED Redis is running in protected mode because protected mode is enabled", errc::denied},
    {"EXECABORT Transaction discarded because of previous errors.", errc::not_ready},
    {"IDONTKNOW I have not enough information to reply.", errc::not_ready},
    {"INPROG Failover already in progress", errc::not_ready},
    {"INVALIDOBJ Corrupted HLL object detected", errc::foreign},
    {"IOERR error or timeout connecting to the client", errc::not_ready},
    {"LOADING Redis is loading the dataset in memory", errc::not_ready},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", errc::not_ready},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
     errc::not_ready},
    {"MISCONF Errors writing to the AOF file: No space left on device", errc::not_ready},
    {"MOVED 866 127.0.0.1:7001", errc::unsupported},
    {"NOAUTH Authentication required.", errc::denied},
    {"NOAUTH HELLO must be called with the client already authenticated", errc::denied},
    {"NOGOODSLAVE No suitable replica to promote", errc::not_ready},
    {"NOGROUP No such consumer group 'x' for key name 'y'", errc::not_ready},
    {"NOMASTERLINK Can't SYNC while not connected with my master", errc::not_ready},
    {"NOPERM User x has no permissions to run the 'evalsha' command", errc::denied},
    {"NOPROTO unsupported protocol version", errc::unsupported},
    {"NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the majority", errc::not_ready},
    {"NOREPLICAS Not enough good replicas to write.", errc::not_ready},
    {"NOSCRIPT No matching script. Please use EVAL.", errc::not_ready},
    {"NOSUB 'sunsubscribe' command executed not in subscribed mode", errc::not_ready},
    {"NOTBUSY No scripts in execution right now.", errc::not_ready},
    {"OOM command not allowed when used memory > 'maxmemory'.", errc::not_ready},
    {"READONLY You can't write against a read only replica.", errc::not_ready},
    {"REDIRECT 127.0.0.1:7001", errc::not_ready},
    {"TRYAGAIN Multiple keys request during rehashing of slot", errc::not_ready},
    {"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)", errc::not_ready},
    {"UNKILLABLE Sorry the script already executed write commands against the dataset.", errc::not_ready},
    {"UNSTABLE", errc::not_ready},
    {"WRONGPASS invalid username-password pair or user is disabled.", errc::denied},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", errc::foreign},

    {"ERR ACL failure in script: User x has no permissions to run the 'set' command", errc::denied},
    {"ERR The user executing the script can't run this command or subcommand script: 1a2b", errc::denied},
    {"ERR max number of clients reached", errc::not_ready},
    {"ERR max number of clients + cluster connections reached", errc::not_ready},
    {"ERR DB index is out of range", errc::bad_url},
    {"ERR invalid DB index", errc::bad_url},
    {"ERR Script attempted to access keys that do not hash to the same slot script: 1a2b", errc::unsupported},
    {"ERR SELECT is not allowed in cluster mode", errc::bad_url},
    {"ERR AUTH <password> called without any password configured for the default user.", errc::denied},
    {"ERR Client sent AUTH, but no password is set", errc::denied},
    {"ERR unknown command 'EVALSHA', with args beginning with: 'x' ", errc::unsupported},
    {"ERR Unknown Redis command called from script script: 1a2b", errc::unsupported},
    {"ERR Unexpected engine in script shebang: x", errc::unsupported},
    {"ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'", errc::unsupported},
};

storage::failure meaning_of(std::string_view error) { return redis::meaning_of(error, "shop:"); }

TEST(error_reply, has_a_meaning_for_every_kind) {
  for (const sample& s : samples) EXPECT_EQ(meaning_of(s.reply).code, s.code) << s.reply;
}

TEST(error_reply, keeps_the_text_of_the_server) {
  for (const sample& s : samples) EXPECT_TRUE(has(meaning_of(s.reply).text, s.reply)) << meaning_of(s.reply).text;
}

// Inside a script the server replies with the same error, followed by the script and the line.
TEST(error_reply, means_the_same_inside_a_script) {
  for (const sample& s : samples) {
    if (s.reply.starts_with("ERR ")) continue;
    const std::string inside = std::string(s.reply) + " script: 1a2b3c, on @user_script:12.";
    EXPECT_EQ(meaning_of(inside).code, s.code) << inside;
  }
}

TEST(error_reply, is_retried_and_kept_verbatim_if_unknown) {
  for (const std::string_view reply :
       {"", " ", "ERR", "ERR ", "ERR something new", "NEWWORD we do not know", "readonly x", "READONLYX y", "OOMX",
        "-READONLY", "WRONG TYPE", "err unknown command"}) {
    const storage::failure f = meaning_of(reply);
    EXPECT_EQ(f.code, errc::not_ready) << reply;
    EXPECT_EQ(f.text, "the server says: " + std::string(reply));
  }
}

TEST(error_reply, names_the_fix_if_the_user_has_one) {
  EXPECT_TRUE(has(meaning_of("NOAUTH x").text, "password_file="));
  EXPECT_TRUE(has(meaning_of("NOPERM x").text, "docs/stores/redis.md"));
  EXPECT_TRUE(has(meaning_of("OOM x").text, "maxmemory"));
  EXPECT_TRUE(has(meaning_of("READONLY x").text, "connect to the primary"));
  EXPECT_TRUE(has(meaning_of("WRONGTYPE x").text, "prefix="));
  EXPECT_TRUE(has(meaning_of("NOREPLICAS x").text, "min-replicas-to-write"));
  EXPECT_TRUE(has(meaning_of("ERR max number of clients reached").text, "maxclients"));
  for (const sample& s : samples) {
    const storage::failure f = meaning_of(s.reply);
    EXPECT_TRUE(f.code != errc::denied || f.text.ends_with(")")) << f.text;
  }
}

TEST(error_reply, names_the_keys_of_a_missing_permission) {
  for (const std::string_view reply :
       {"NOPERM No permissions to access a key", "ERR ACL failure in script: No permissions to access a key"}) {
    EXPECT_TRUE(has(meaning_of(reply).text, "the keys begin with 'shop:'; does its ACL allow them?"));
    EXPECT_TRUE(has(redis::meaning_of(reply, "").text, "the keys are the names of the locks"));
  }
  EXPECT_FALSE(has(meaning_of("OOM x").text, "shop:"));
}

TEST(error_reply, is_truncated_if_too_long) {
  EXPECT_LT(meaning_of(std::string(1 << 20, 'x')).text.size(), 1'000u);
  EXPECT_LT(meaning_of("OOM " + std::string(1 << 20, 'x')).text.size(), 1'000u);
}

TEST(error_reply, detects_a_missing_script) {
  EXPECT_TRUE(is_noscript("NOSCRIPT No matching script. Please use EVAL."));
  EXPECT_TRUE(is_noscript("NOSCRIPT"));
  for (const std::string_view other : {"", "NOSCRIPTS x", "ERR NOSCRIPT", "noscript"}) EXPECT_FALSE(is_noscript(other));
}

TEST(error_reply, detects_a_server_that_takes_no_writes) {
  for (const std::string_view word : {"READONLY", "MASTERDOWN", "REDIRECT", "FAILOVER"}) {
    EXPECT_TRUE(is_wrong_server(word));
    EXPECT_TRUE(is_wrong_server(std::string(word) + " and more"));
    EXPECT_FALSE(is_wrong_server(std::string(word) + "X"));
    EXPECT_FALSE(is_wrong_server("ERR " + std::string(word)));
  }
  for (const std::string_view other : {"", "LOADING x", "OOM x", "NOPERM x"}) EXPECT_FALSE(is_wrong_server(other));
}

}  // namespace
}  // namespace holdfast::redis
