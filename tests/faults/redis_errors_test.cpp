// Callers get the right error for each error reply that a server can be made to send, and the text names the remedy.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <semaphore>

#include "faults/redis_store.hpp"
#include "redis/transport/connection.hpp"
#include "storage/answer.hpp"
#include "support/user_coroutine.hpp"

namespace holdfast::faults {
namespace {

struct expected {
  errc code;
  std::string_view words;  ///< of the server
  std::string_view cure;
};

void expect(const std::pair<std::error_code, std::string>& got, const expected& e) {
  EXPECT_EQ(got.first, e.code) << got.second;
  EXPECT_NE(got.second.find(e.words), std::string::npos) << got.second;
  EXPECT_NE(got.second.find(e.cure), std::string::npos) << got.second;
}

class redis_error : public testing::Test {
 protected:
  test::redis_server server;
  /// Returns the error that a client gets when it requests the lock.
  auto of_acquire(const std::string& options = {}) {
    return failure_of([&] { (void)open(server.url(options), {.patience = 300ms}).acquire("a"); });
  }
  void configure(const std::string& what, const std::string& value) {
    EXPECT_EQ(server.ask({"CONFIG", "SET", what, value}).text, "OK");
  }
};

TEST_F(redis_error, oom_refuses_new_locks_but_allows_renew_and_release) {
  store one = open(server.url());
  lease held = one.acquire("b");
  configure("maxmemory", "1");
  expect(of_acquire(), {errc::not_ready, "OOM", "maxmemory"});
  EXPECT_TRUE(held.renew(10s));
  EXPECT_EQ(held.release(), released::yes);
}

TEST_F(redis_error, oom_allows_handing_a_lock_on) {
  watched_client one(server.url()), other(server.url());
  lease held = one.store.acquire("a");
  auto waiting = other.wait_for("a");
  configure("maxmemory", "1");
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST(redis_error_of_a_disk, misconf_is_not_ready_until_the_disk_works) {
  test::redis_server server({"--enable-protected-configs", "yes"});
  const auto configure = [&](const std::string& what, const std::string& value) {
    EXPECT_EQ(server.ask({"CONFIG", "SET", what, value}).text, "OK");
  };
  configure("dir", "/proc");  // where nothing can be saved
  configure("save", "3600 1");
  (void)server.ask({"SET", "x", "y"});
  (void)server.ask({"BGSAVE"});
  EXPECT_TRUE(test::eventually([&] { return server.ask({"SET", "x", "z"}).text.starts_with("MISCONF"); }));
  expect(failure_of([&] { (void)open(server.url(), {.patience = 300ms}).acquire("a"); }),
         {errc::not_ready, "MISCONF", "fix its disk"});
  configure("stop-writes-on-bgsave-error", "no");
  EXPECT_TRUE(open(server.url()).try_acquire("a"));
}

TEST_F(redis_error, noreplicas_is_not_ready) {
  configure("min-replicas-to-write", "1");
  expect(of_acquire(), {errc::not_ready, "NOREPLICAS", "min-replicas-to-write"});
}

TEST_F(redis_error, readonly_is_not_ready_until_the_server_is_a_primary) {
  (void)server.ask({"REPLICAOF", "127.0.0.1", "1"});
  (void)server.ask({"CONFIG", "SET", "replica-serve-stale-data", "yes"});
  expect(of_acquire(), {errc::not_ready, "READONLY", "connect to the primary"});
  watched_client waits(server.url(), 20s);
  auto got = std::async(std::launch::async, [&] { return waits.store.try_acquire("a", within(test::hang)); });
  (void)server.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(test::get(std::move(got)));
}

TEST_F(redis_error, busy_is_not_ready_until_the_script_ends) {
  configure("busy-reply-threshold", "1");
  std::thread forever([&] { (void)server.ask({"EVAL", "while true do end", "0"}); });
  EXPECT_TRUE(test::eventually([&] { return server.ask({"PING"}).text.starts_with("BUSY"); }));
  expect(of_acquire(), {errc::not_ready, "BUSY", "SCRIPT KILL"});
  EXPECT_EQ(server.ask({"SCRIPT", "KILL"}).text, "OK");
  forever.join();
  EXPECT_TRUE(open(server.url()).try_acquire("a"));
}

TEST_F(redis_error, wrongtype_is_foreign_and_leaves_the_key_alone) {
  (void)server.ask({"HSET", "holdfast:{a}", "field", "1"});  // a lock of Redisson's
  expect(of_acquire(), {errc::foreign, "WRONGTYPE", "prefix"});
  EXPECT_EQ(server.ask({"HGET", "holdfast:{a}", "field"}).text, "1");
  (void)server.ask({"DEL", "holdfast:{a}"});
  (void)server.ask({"SET", "holdfast:{a}:q", "not a queue"});
  (void)server.ask({"SET", "holdfast:{a}", "somebody", "PX", "60000"});
  expect(of_acquire(), {errc::foreign, "WRONGTYPE", "prefix"});
}

TEST_F(redis_error, noauth_is_denied_and_shows_where_the_password_goes) {
  configure("requirepass", "a secret");
  expect(of_acquire(), {errc::denied, "NOAUTH", "password"});
}

/// The error reply of a server to an unknown command repeats the command's arguments.
TEST(redis_error_of_a_proxy, without_hello_and_auth_shows_no_password) {
  const test::redis_server old({"--rename-command", "HELLO", "", "--rename-command", "AUTH", ""});
  for (const std::string& rest :
       {std::string(), std::string(300, 'x')}) {  // a server shows the beginning of a long one
    const std::string url = "redis+unix://me:s3kret" + rest + "@" + old.socket();
    const auto [code, text] = failure_of([&] { (void)open(url).try_acquire("a", within(1s)); });
    EXPECT_TRUE(code);
    EXPECT_NE(text.find("AUTH"), std::string::npos) << text;
    EXPECT_EQ(text.find("s3kret"), std::string::npos) << text;
  }
}

TEST_F(redis_error, wrongpass_is_denied_and_shows_no_password) {
  const auto got = failure_of([&] {
    (void)open("redis+unix://someone:the%20wrong%20one@" + server.socket(), {.patience = 300ms}).acquire("a");
  });
  expect(got, {errc::denied, "WRONGPASS", "wrong"});
  EXPECT_EQ(got.second.find("wrong one"), std::string::npos) << got.second;
  EXPECT_EQ(got.second.find("%20"), std::string::npos) << got.second;
}

TEST_F(redis_error, noperm_is_denied_for_scripts_commands_keys_and_channels) {
  const auto denied = [&](const std::vector<std::string>& rights) {
    std::vector<std::string> words = {"ACL", "SETUSER", "poor", "reset", "on", ">x"};
    words.insert(words.end(), rights.begin(), rights.end());
    EXPECT_EQ(server.ask(words).text, "OK");
    store s = open("redis+unix://poor:x@" + server.socket(), {.patience = 300ms});
    store other = open(server.url());
    const lease held = other.acquire("a");
    expect(failure_of([&] { (void)s.acquire("a"); }), {errc::denied, "", "docs/stores/redis.md"});
  };
  denied({"~*", "&*", "+@all", "-evalsha"});
  denied({"~*", "&*", "+@all", "-get"});
  denied({"~*", "&*", "+@all", "-ssubscribe"});
  denied({"~others:*", "&*", "+@all"});
  denied({"~*", "resetchannels", "+@all"});
}

TEST_F(redis_error, missing_database_is_a_bad_url) {
  expect(of_acquire("db=4000"), {errc::bad_url, "DB index is out of range", "no such database"});
}

TEST(redis_error_of_a_cluster, is_reported_at_once_by_a_url_for_one_server) {
  const test::redis_server node({"--cluster-enabled", "yes"});
  const auto got = failure_of([&] { (void)open(node.url()).acquire("a"); });
  EXPECT_EQ(got.first, errc::unsupported) << got.second;
  EXPECT_NE(got.second.find("cluster"), std::string::npos) << got.second;
}

TEST(redis_error_of_an_old_server, is_absent_if_only_hello_is_unknown) {
  test::redis_server server({"--rename-command", "HELLO", ""});
  watched_client one(server.url()), other(server.url());
  lease held = one.store.acquire("a");
  auto waiting = other.wait_for("a");
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting))) << "messages come on a connection of their own";
}

TEST(redis_error_of_an_old_server, without_scripts_names_the_required_version) {
  test::redis_server server({"--rename-command", "EVALSHA", ""});
  const auto got = failure_of([&] { (void)open(server.url(), {.patience = 300ms}).acquire("a"); });
  expect(got, {errc::unsupported, "unknown command", "needs Redis 7.0"});
}

TEST(redis_error_of_an_old_server, without_sharded_channels_names_required_version) {
  test::redis_server server({"--rename-command", "SSUBSCRIBE", ""});
  store one = open(server.url()), other = open(server.url(), {.patience = 300ms});
  const lease held = one.acquire("a");
  const auto got = failure_of([&] { (void)other.acquire("a"); });
  expect(got, {errc::unsupported, "unknown command", "needs Redis 7.0"});
}

TEST(redis_error_of_another_protocol, is_unreachable) {
  const auto got = failure_of([&] { (void)open("redis+unix:///nowhere/at/all", {.patience = 100ms}).acquire("a"); });
  expect(got, {errc::unreachable, "No such file", "/nowhere/at/all"});
}

const std::vector<std::string> slow_to_load{"--appendonly",
                                            "yes",
                                            "--rdbcompression",
                                            "no",
                                            "--key-load-delay",
                                            "4000",
                                            "--loading-process-events-interval-bytes",
                                            "1024"};

/// Returns while the server reads its data, which takes at least 4 ms for each key.
void restart_slowly(test::redis_server& server, int keys) {
  std::vector<std::string> words = {"MSET"};
  const std::string kilobyte(1024, 'x');  // so often the server looks at its connections meanwhile
  for (int n = 0; n < keys; ++n) words.insert(words.end(), {"key/" + std::to_string(n), kilobyte});
  (void)server.ask(words);
  (void)server.ask({"BGREWRITEAOF"});
  EXPECT_TRUE(test::eventually(
      [&] { return server.ask({"INFO", "persistence"}).text.find("aof_rewrite_in_progress:0") != std::string::npos; }));
  server.kill();
  server.start();
  EXPECT_TRUE(server.ask({"PING"}).text.starts_with("LOADING"));
}

TEST(redis_error_while_loading, is_waited_for) {
  test::redis_server server(slow_to_load);
  restart_slowly(server, 500);
  EXPECT_TRUE(open(server.url(), {.patience = 20s}).try_acquire("a", within(test::hang)));
}

struct refusing_server {
  test::redis_server is;
  std::unique_ptr<test::redis_server> primary{};     ///< of a replica
  std::unique_ptr<redis::connection> only_client{};  ///< of one that takes no other
};

/// A way in which a server refuses locks, and the error code of its reply.
struct refusal {
  std::string_view word;
  std::vector<std::string> options;              ///< of the server
  std::function<void(refusing_server&)> begins;  ///< from then on it refuses
  std::string user{};                            ///< of the client: "user:password@"
};

void PrintTo(const refusal& r, std::ostream* out) { *out << r.word; }

void configure_all(const test::redis_server& server, const std::vector<std::vector<std::string>>& commands) {
  for (const std::vector<std::string>& each : commands) {
    EXPECT_EQ(server.ask(each).text, "OK") << each.back();
  }
}

void become_replica(refusing_server& s) {
  const std::string port = std::to_string(test::free_port());
  s.primary =
      std::make_unique<test::redis_server>(std::vector<std::string>{"--port", port, "--repl-diskless-sync-delay", "0"});
  configure_all(s.is, {{"REPLICAOF", "127.0.0.1", port}});
  EXPECT_TRUE(test::eventually(
      [&] { return s.is.ask({"INFO", "replication"}).text.find("master_link_status:up") != std::string::npos; }));
}

void fail_to_save(refusing_server& s) {
  configure_all(s.is, {{"CONFIG", "SET", "dir", "/proc"}, {"CONFIG", "SET", "save", "3600 1"}, {"SET", "x", "y"}});
  (void)s.is.ask({"BGSAVE"});
  EXPECT_TRUE(test::eventually([&] { return s.is.ask({"SET", "x", "z"}).text.starts_with("MISCONF"); }));
}

void take_one_client(refusing_server& s) {
  configure_all(s.is, {{"CONFIG", "SET", "maxclients", "1"}});
  const redis::dialer dialer{redis::settings::parse(s.is.url())};
  EXPECT_TRUE(test::eventually([&] {  // the one that has configured it may not be gone yet
    try {
      s.only_client = dialer.open(within(test::hang));
      return true;
    } catch (const storage::failure&) {
      return false;
    }
  }));
}

/// Returns a `begins` that runs only these commands.
auto after(std::vector<std::vector<std::string>> commands) {
  return [commands = std::move(commands)](refusing_server& s) { configure_all(s.is, commands); };
}

std::vector<refusal> all_refusals() {
  const std::vector<std::string> right_to_all_but_scripts{"ACL", "SETUSER", "poor", "reset", "on",
                                                          ">x",  "~*",      "&*",   "+@all", "-evalsha"};
  return {
      {"READONLY", {}, become_replica},
      {"NOAUTH", {}, after({{"CONFIG", "SET", "requirepass", "a secret"}})},
      {"WRONGPASS", {}, after({}), "somebody:wrong@"},
      {"NOPERM", {}, after({right_to_all_but_scripts}), "poor:x@"},
      {"MISCONF", {"--enable-protected-configs", "yes"}, fail_to_save},
      {"max number of clients", {}, take_one_client},
      {"OOM", {}, after({{"CONFIG", "SET", "maxmemory", "1"}})},
      {"LOADING", slow_to_load, [](refusing_server& s) { restart_slowly(s.is, 4000); }},
  };
}

class redis_refusal : public testing::TestWithParam<refusal> {
 protected:
  redis_refusal() : server{.is = test::redis_server(GetParam().options)} {}
  refusing_server server;
  [[nodiscard]] store opened() const {
    return open("redis+unix://" + GetParam().user + server.is.socket(), {.patience = 700ms});
  }
};

test::user_coroutine acquire_and_say_why(store s, std::string& why, std::binary_semaphore& over) {
  try {
    const lease got = co_await s.async_acquire("a");
  } catch (const lock_error& e) {
    why = e.what();
  }
  over.release();
}

TEST_P(redis_refusal, is_the_same_error_in_async_and_blocking_calls) {
  GetParam().begins(server);
  const std::string blocking = failure_of([&] { (void)opened().acquire("a"); }).second;
  EXPECT_NE(blocking.find(GetParam().word), std::string::npos) << blocking;
  std::string async;
  std::binary_semaphore over(0);
  store asking = opened();
  acquire_and_say_why(asking, async, over);
  ASSERT_TRUE(over.try_acquire_for(test::hang));
  EXPECT_EQ(async, blocking);
}

INSTANTIATE_TEST_SUITE_P(of_a_server, redis_refusal, testing::ValuesIn(all_refusals()), [](const auto& each) {
  std::string name(each.param.word);
  std::ranges::replace(name, ' ', '_');
  return name;
});

}  // namespace
}  // namespace holdfast::faults
