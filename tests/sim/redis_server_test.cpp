// The simulated server behaves like a Redis: what it says to these lines, Redis 7.0.15 says, too.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/owner.hpp"
#include "redis/script.hpp"
#include "sim/redis_server.hpp"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;
using redis::value;

std::string told(const value& v) {
  switch (v.what) {
    case value::kind::nil: return "nil";
    case value::kind::integer: return std::to_string(v.number);
    case value::kind::text: return "'" + v.text + "'";
    case value::kind::error: return "error " + v.text.substr(0, v.text.find(' '));
    case value::kind::list:
    case value::kind::push: break;
  }
  std::string all;
  for (const value& item : v.items) all += (all.empty() ? "" : " ") + told(item);
  return (v.is(value::kind::push) ? "push{" : "{") + all + "}";
}

class a_redis_server : public testing::Test {
 protected:
  /// One connection, and what came on it.
  struct guest {
    explicit guest(redis_server& s)
        : server(s), id(s.accept([this](const std::string& bytes) { came.feed(bytes); }, [this] { cut = true; })) {}
    redis_server& server;
    redis::decoder came;
    bool cut = false;
    redis_server::connection id;

    std::string ask(const std::vector<std::string>& words) {
      redis::command c(words.size());
      for (const std::string& w : words) c.add(w);
      server.receive(id, c.bytes());
      return next();
    }
    std::string next() {
      const std::optional<value> v = came.next();
      return v ? told(*v) : "";
    }
    /// The reply to a script.
    std::string lua(const std::string& script) {
      const std::string sha = ask({"SCRIPT", "LOAD", script});
      return ask({"EVALSHA", sha.substr(1, sha.size() - 2), "0"});
    }
  };

  void wait(real time) {
    world_.in(time, [] {});
    while (world_.step()) {
    }
  }

  world world_{1};
  redis_server server_{world_, drifting_clock(world_, 1, 1'790'000'000s), {.push_first = true, .in_order = true}};
  guest guest_{server_};
};

struct fact {
  const char* lua;
  const char* reply;
};

constexpr fact facts[] = {
    // numbers, in and out
    {"return redis.call('SET', 'n', 1790000000000063)", "'OK'"},
    {"return redis.call('GET', 'n')", "'1790000000000063'"},
    {"return redis.call('GET', 'n') + 1", "1790000000000064"},
    {"redis.call('SET', 'n', 0.1) return redis.call('GET', 'n')", "'0.10000000000000001'"},
    {"return 3.99", "3"},
    {"return -3.99", "-3"},
    {"return { 1, 'a', false, nil, 5 }", "{1 'a' nil}"},
    {"return true", "1"},
    {"return false", "nil"},
    {"return redis.call('GET', 'none')", "nil"},
    {"return redis.call('GET', 'none') == false", "1"},
    // strings and their ends
    {"return redis.call('SET', 's', 'a', 'PX', 100, 'GET')", "nil"},
    {"return redis.call('SET', 's', 'b', 'EX', '86400', 'GET')", "'a'"},
    {"return redis.call('PTTL', 's') > 86399000", "1"},
    {"redis.call('SET', 's', 'c') return redis.call('PTTL', 's')", "-1"},
    {"return redis.call('PTTL', 'none')", "-2"},
    {"return redis.call('PEXPIRE', 's', 5000, 'GT')", "0"},
    {"return redis.call('PEXPIRE', 's', 5000)", "1"},
    {"return redis.call('PEXPIRE', 's', 1000, 'GT')", "0"},
    {"return redis.call('PEXPIRE', 's', 9000, 'GT')", "1"},
    {"return redis.call('PEXPIRE', 'none', 9000)", "0"},
    {"return redis.call('EXISTS', 's') + redis.call('DEL', 's') + redis.call('DEL', 's')", "2"},
    {"redis.call('SET', 's', 'd') redis.call('PEXPIRE', 's', 0) return redis.call('EXISTS', 's')", "0"},
    {"return redis.call('SET', 's', 'e', 'PX', 0)", "error ERR"},
    {"return redis.call('SET', 's', 'e', 'PX', 'soon')", "error ERR"},
    {"return redis.call('SET', 's', 'e', 'SOON')", "error ERR"},
    // sorted sets
    {"return redis.call('ZADD', 'z', 'NX', 1790000000000001, 'b')", "1"},
    {"return redis.call('ZADD', 'z', 'NX', 5, 'b')", "0"},
    {"return redis.call('ZSCORE', 'z', 'b')", "'1790000000000001'"},
    {"return redis.call('ZADD', 'z', 1790000000000002, 'b')", "0"},
    {"return redis.call('ZADD', 'z', '1790000000000002', 'a')", "1"},
    {"return redis.call('ZADD', 'z', 'NX', 0.5, 'half')", "1"},
    {"return redis.call('ZRANGE', 'z', 0, -1)", "{'half' 'a' 'b'}"},
    {"return redis.call('ZRANGE', 'z', '-1', '-1', 'WITHSCORES')", "{'b' '1790000000000002'}"},
    {"return redis.call('ZRANGE', 'z', '0', '0', 'WITHSCORES')", "{'half' '0.5'}"},
    {"return redis.call('ZRANGE', 'z', -9, 0)", "{'half'}"},
    {"return redis.call('ZRANGE', 'z', 5, 9)", "{}"},
    {"return redis.call('ZRANGE', 'none', '-1', '-1', 'WITHSCORES')[2] == nil", "1"},
    {"return redis.call('ZRANK', 'z', 'b')", "2"},
    {"return redis.call('ZRANK', 'z', 'c')", "nil"},
    {"return redis.call('ZSCORE', 'z', 'c')", "nil"},
    {"return redis.call('ZPOPMIN', 'z')", "{'half' '0.5'}"},
    {"return redis.call('ZREM', 'z', 'c')", "0"},
    {"return redis.call('ZREM', 'z', 'a')", "1"},
    {"return redis.call('ZPOPMIN', 'z')", "{'b' '1790000000000002'}"},
    {"return redis.call('EXISTS', 'z')", "0"},
    {"return redis.call('ZPOPMIN', 'z')", "{}"},
    {"return redis.call('ZADD', 'z', 'high', 'a')", "error ERR"},
    // mistakes
    {"redis.call('SET', 's', 'x') return redis.call('ZPOPMIN', 's')", "error WRONGTYPE"},
    {"return redis.call('GET', 's')", "'x'"},
    {"redis.call('ZADD', 'z', 1, 'a') return redis.call('GET', 'z')", "error WRONGTYPE"},
    {"return redis.call('SET', 'z', 'over', 'GET')", "error WRONGTYPE"},
    {"return redis.call('SET', 'z', 'over')", "'OK'"},
    {"return redis.call('GET')", "error ERR"},
    {"return redis.call('NOSUCH', 's')", "error ERR"},
    {"return redis.call('GET', {})", "error ERR"},
    {"return nosuch", "error ERR"},
    {"nosuch = 1", "error ERR"},
    {"return redis.call('SPUBLISH', 'nobody', 'x')", "0"},
    {"return #redis.call('TIME')", "2"},
};

TEST_F(a_redis_server, says_what_redis_says) {
  for (const fact& f : facts) EXPECT_EQ(guest_.lua(f.lua), f.reply) << f.lua;
}

TEST_F(a_redis_server, keeps_a_key_through_its_last_millisecond) {
  wait(300us);  // into a millisecond
  (void)guest_.lua("return redis.call('SET', 's', 'a', 'PX', 10)");
  wait(10ms);
  EXPECT_EQ(guest_.lua("return redis.call('PTTL', 's')"), "0");
  wait(699us);
  EXPECT_EQ(guest_.lua("return redis.call('GET', 's')"), "'a'");
  wait(1us);
  EXPECT_EQ(guest_.lua("return redis.call('GET', 's')"), "nil");
}

TEST_F(a_redis_server, forgets_scripts_and_listeners_in_a_restart_and_its_data_only_if_told_to) {
  (void)guest_.lua("return redis.call('SET', 's', 'a')");
  EXPECT_EQ(guest_.ask({"SCRIPT", "LOAD", "return 7"}), "'59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9'");
  EXPECT_EQ(guest_.ask({"SSUBSCRIBE", "here"}), "push{'ssubscribe' 'here' 1}");
  server_.restart(true);
  EXPECT_TRUE(guest_.cut);
  guest again(server_);
  EXPECT_EQ(again.ask({"EVALSHA", "59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9", "0"}), "error NOSCRIPT");
  EXPECT_EQ(again.lua("return redis.call('SPUBLISH', 'here', 'x')"), "0");
  EXPECT_EQ(again.lua("return redis.call('GET', 's')"), "'a'");
  server_.restart(false);
  guest third(server_);
  EXPECT_EQ(third.lua("return redis.call('GET', 's')"), "nil");
}

TEST_F(a_redis_server, counts_listeners_by_connection) {
  guest other(server_);
  (void)guest_.ask({"SSUBSCRIBE", "here"});
  (void)guest_.ask({"SSUBSCRIBE", "here"});
  (void)other.ask({"SSUBSCRIBE", "here"});
  guest third(server_);
  EXPECT_EQ(third.lua("return redis.call('SPUBLISH', 'here', 'x')"), "2");
  EXPECT_EQ(guest_.next(), "push{'smessage' 'here' 'x'}");
  EXPECT_EQ(other.next(), "push{'smessage' 'here' 'x'}");
  server_.closed(other.id);
  EXPECT_EQ(third.lua("return redis.call('SPUBLISH', 'here', 'x')"), "1");
}

TEST_F(a_redis_server, that_is_full_runs_what_releases_and_nothing_else) {
  const std::string lock = guest_.ask({"SCRIPT", "LOAD", std::string(redis::scripts::acquire.text)});
  (void)guest_.ask({"SCRIPT", "LOAD", std::string(redis::scripts::release.text)});
  const std::string me = redis::owner_text("0123456789abcdef", {1, 2}, 500ms, "");
  server_.be_full_until(1s);
  EXPECT_EQ(guest_.ask({"EVALSHA", std::string(redis::scripts::acquire.sha), "3", "K", "Q", "F", me, "9", "in:", "-"}),
            "error OOM");
  EXPECT_EQ(guest_.ask({"EVALSHA", std::string(redis::scripts::release.sha), "3", "K", "Q", "F", me, "in:"}), "0");
}

/// More dead waiters than one call looks at.
TEST_F(a_redis_server, hands_a_lock_over_many_dead_waiters_in_several_calls) {
  for (const redis::script& s : {redis::scripts::acquire, redis::scripts::release}) {
    (void)guest_.ask({"SCRIPT", "LOAD", std::string(s.text)});
  }
  const auto owner = [](char inbox, unsigned n) {
    return redis::owner_text(std::string(16, inbox), {1, n}, 500ms, "");
  };
  const auto poll = [&](const std::string& me) {
    return guest_.ask({"EVALSHA", std::string(redis::scripts::acquire.sha), "3", "K", "Q", "F", me, "900", "in:", ""});
  };
  const auto release = [&](const std::string& me) {
    return guest_.ask({"EVALSHA", std::string(redis::scripts::release.sha), "3", "K", "Q", "F", me, "in:"});
  };
  (void)poll(owner('h', 0));
  for (unsigned n = 1; n <= 150; ++n) (void)poll(owner('d', n));
  guest waiter(server_);
  (void)waiter.ask({"SSUBSCRIBE", "in:" + std::string(16, 'w')});
  (void)poll(owner('w', 999));
  EXPECT_EQ(release(owner('h', 0)), "5");
  EXPECT_EQ(release(owner('h', 0)), "4");
  EXPECT_EQ(release(owner('h', 0)), "0");
  EXPECT_EQ(server_.keys().text_at("K", server_.now())->value, owner('w', 999));
  EXPECT_NE(waiter.next(), "");
  EXPECT_EQ(world_.violation(), "");
}

}  // namespace
}  // namespace holdfast::sim
