// A server is examined while its network, its users and the program itself continue.
#include <gtest/gtest.h>

#include "faults/redis_store.hpp"
#include "support/found.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;

TEST(redis_health_check, reports_ok_for_a_safe_server_under_load) {
  const test::redis_server server({"--appendonly", "yes", "--appendfsync", "always"});
  watched_client one(server.url());
  const lease held = one.store.acquire("a");
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::are_whole(all));
  EXPECT_GT(all.size(), 15u);
  for (const finding& each : all) EXPECT_EQ(each.level, severity::fine) << each.id << ": " << each.what;
  EXPECT_TRUE(held.held());
}

TEST(redis_health_check, changes_no_key) {
  const test::redis_server server;
  watched_client one(server.url());
  (void)one.store.examine();
  for (const std::string& key : server.keys()) EXPECT_TRUE(key.starts_with("holdfast:client:")) << key;
}

TEST(redis_health_check, fails_after_patience_if_the_server_is_silent) {
  const test::redis_server server;
  fault_proxy proxy(server.socket());
  watched_client one("redis+unix://" + proxy.socket() + "?timeout=100ms&connect_timeout=100ms", 500ms);
  (void)one.store.inspect("a");
  proxy.treat(fault_proxy::way::to_client, fault_proxy::treatment::swallow);
  const auto [code, text] = failure_of([&] { (void)one.store.examine(); });
  EXPECT_EQ(code, errc::unreachable) << text;
}

TEST(redis_health_check, finishes_over_a_slow_connection) {
  const test::redis_server server;
  fault_proxy proxy(server.socket());
  watched_client one("redis+unix://" + proxy.socket(), 1s);
  proxy.delay(fault_proxy::way::to_client, 60ms);  // some thirty requests
  const std::vector<finding> all = one.store.examine();
  EXPECT_TRUE(test::is(all, "redis.rights", severity::fine));
  EXPECT_TRUE(test::is(all, "redis.clock", severity::fine));
}

TEST(redis_health_check, restarts_when_its_connection_breaks) {
  const test::redis_server server;
  fault_proxy proxy(server.socket());
  watched_client one("redis+unix://" + proxy.socket());
  (void)one.store.inspect("a");
  proxy.cut_after(fault_proxy::way::to_client, 500);  // in the middle of what INFO says
  EXPECT_TRUE(test::is(one.store.examine(), "redis.rights", severity::fine));
}

TEST(redis_health_check, ends_when_the_store_is_closed) {
  const test::redis_server server;
  watched_client one(server.url());
  (void)one.store.inspect("a");
  auto examining = std::async(std::launch::async, [&] { return failure_of([&] { (void)one.store.examine(); }).first; });
  one.store.close();
  const std::error_code why = examining.get();
  EXPECT_TRUE(why == errc::closed || !why) << why.message();  // it may have been done
}

}  // namespace
}  // namespace holdfast::faults
