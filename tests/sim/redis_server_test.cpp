// The simulated server behaves like a Redis.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"
#include "sim/redis_facts.hpp"
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
  redis_server server_{world_, drifting_clock(world_, 1, first_day), {.push_first = true, .in_order = true}};
  guest guest_{server_};
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

TEST_F(a_redis_server, loses_scripts_and_listeners_on_restart_but_data_on_request) {
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
  EXPECT_EQ(third.lua("return redis.call('PUBSUB', 'SHARDNUMSUB', 'here')"), "{'here' 2}");
  EXPECT_EQ(third.lua("return redis.call('SPUBLISH', 'here', 'x')"), "2");
  EXPECT_EQ(guest_.next(), "push{'smessage' 'here' 'x'}");
  EXPECT_EQ(other.next(), "push{'smessage' 'here' 'x'}");
  server_.closed(other.id);
  EXPECT_EQ(third.lua("return redis.call('SPUBLISH', 'here', 'x')"), "1");
}

TEST_F(a_redis_server, that_is_full_runs_what_releases_and_nothing_else) {
  const std::string lock = guest_.ask({"SCRIPT", "LOAD", std::string(redis::scripts::acquire.text)});
  (void)guest_.ask({"SCRIPT", "LOAD", std::string(redis::scripts::release.text)});
  const std::string me = redis::owner_text("0123456789abcdef", {1, 2}, {}, 500ms, "");
  server_.be_full_until(1s);
  EXPECT_EQ(
      guest_.ask({"EVALSHA", std::string(redis::scripts::acquire.sha), "4", "K", "Q", "F", "H", me, "9", "in:", "-"}),
      "error OOM");
  EXPECT_EQ(guest_.ask({"EVALSHA", std::string(redis::scripts::release.sha), "4", "K", "Q", "F", "H", me, "in:"}), "0");
}

TEST_F(a_redis_server, counts_its_age_in_whole_seconds_from_its_last_start) {
  wait(1500ms);
  server_.restart(true);
  guest again(server_);
  EXPECT_NE(again.ask({"INFO", "server"}).find("uptime_in_seconds:0"), std::string::npos);
  wait(600ms);  // the second in which it was started has passed
  EXPECT_NE(again.ask({"INFO", "server"}).find("uptime_in_seconds:1"), std::string::npos);
}

TEST_F(a_redis_server, that_was_stopped_runs_pending_commands_in_order) {
  server_.stand_still_until(100ms);
  EXPECT_EQ(guest_.ask({"SSUBSCRIBE", "here"}), "");
  EXPECT_EQ(guest_.ask({"SSUBSCRIBE", "there"}), "");
  guest other(server_);
  (void)other.ask({"SSUBSCRIBE", "here"});
  server_.closed(other.id);
  wait(100ms);
  EXPECT_EQ(guest_.next(), "push{'ssubscribe' 'here' 1}");
  EXPECT_EQ(guest_.next(), "push{'ssubscribe' 'there' 2}");
  EXPECT_EQ(other.next(), "push{'ssubscribe' 'here' 1}");  // and then it was gone
  EXPECT_EQ(guest_.lua("return redis.call('SPUBLISH', 'here', 'x')"), "push{'smessage' 'here' 'x'}");
}

TEST_F(a_redis_server, waits_for_its_replica_and_keeps_what_comes_behind_waiting) {
  (void)guest_.lua("return redis.call('SET', 's', 'a')");
  EXPECT_EQ(guest_.ask({"WAIT", "1", "50"}), "");
  EXPECT_EQ(guest_.ask({"SSUBSCRIBE", "here"}), "");
  server_.acknowledge(server_.written());
  EXPECT_EQ(guest_.next(), "1");
  EXPECT_EQ(guest_.next(), "push{'ssubscribe' 'here' 1}");
  EXPECT_EQ(guest_.ask({"WAIT", "1", "50"}), "1");
  (void)guest_.lua("return redis.call('SET', 's', 'b')");
  EXPECT_EQ(guest_.ask({"WAIT", "1", "50"}), "");
  wait(50ms);
  EXPECT_EQ(guest_.next(), "0");
}

TEST_F(a_redis_server, that_only_reads_refuses_scripts) {
  server_.only_read(true);
  EXPECT_EQ(guest_.lua("return redis.call('SET', 's', 'a')"), "error READONLY");
}

/// More dead waiters than one call looks at.
TEST_F(a_redis_server, hands_a_lock_over_many_dead_waiters_in_several_calls) {
  for (const redis::script& s : {redis::scripts::acquire, redis::scripts::release}) {
    (void)guest_.ask({"SCRIPT", "LOAD", std::string(s.text)});
  }
  const auto owner = [](char inbox, unsigned n) {
    return redis::owner_text(std::string(16, inbox), {1, n}, {}, 500ms, "");
  };
  const auto poll = [&](const std::string& me) {
    return guest_.ask(
        {"EVALSHA", std::string(redis::scripts::acquire.sha), "4", "K", "Q", "F", "H", me, "900", "in:", ""});
  };
  const auto release = [&](const std::string& me) {
    return guest_.ask({"EVALSHA", std::string(redis::scripts::release.sha), "4", "K", "Q", "F", "H", me, "in:"});
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

/// The same hand-over with admitted readers and with permits.
TEST_F(a_redis_server, lets_many_in_in_several_calls) {
  using namespace redis::scripts;
  for (const redis::script& s : {acquire, downgrade, acquire_shared, take, give}) {
    (void)guest_.ask({"SCRIPT", "LOAD", std::string(s.text)});
  }
  const auto owner = [](unsigned n, const storage::share& wants) {
    return redis::owner_text(std::string(16, 'w'), {1, n}, wants, 500ms, "");
  };
  const auto run = [&](const redis::script& s, const std::vector<std::string>& args) {
    std::vector<std::string> all = {"EVALSHA", std::string(s.sha), "4", "K", "K:q", "K:f", "K:h"};
    if (s.sha == downgrade.sha) {
      all[2] = "5";
      all.push_back("K:a");
    }
    all.insert(all.end(), args.begin(), args.end());
    return guest_.ask(all);
  };
  guest waiter(server_);
  (void)waiter.ask({"SSUBSCRIBE", "in:" + std::string(16, 'w')});

  const std::string writer = owner(0, {}), then = redis::as_reader(writer);
  const std::string fence = run(acquire, {writer, "900", "in:", ""});
  for (unsigned n = 1; n <= 100; ++n) (void)run(acquire_shared, {owner(n, storage::share::reader()), "900", "in:", ""});
  EXPECT_EQ(run(downgrade, {writer, "900", "in:", fence, then}), "5");
  EXPECT_EQ(run(downgrade, {writer, "900", "in:", fence, then}), "1");
  EXPECT_EQ(server_.keys().scores_of("K:h", server_.now()).size(), 102U);  // and the history
  EXPECT_EQ(server_.keys().text_at("K", server_.now())->value, "+" + fence);

  (void)guest_.lua("return redis.call('DEL', 'K', 'K:q', 'K:f', 'K:h')");
  const auto some = [&](unsigned n, std::uint32_t k) { return owner(n, storage::share::permits(k, 100)); };
  (void)run(take, {some(0, 100), "900", "in:", "", "100"});
  for (unsigned n = 1; n <= 100; ++n) (void)run(take, {some(n, 1), "900", "in:", "", "100"});
  EXPECT_EQ(run(give, {some(0, 100), "in:"}), "5");
  EXPECT_EQ(run(give, {some(0, 100), "in:"}), "0");
  EXPECT_EQ(server_.keys().scores_of("K:h", server_.now()).size(), 100U);
  EXPECT_TRUE(server_.keys().text_at("K", server_.now())->value.starts_with("#100:100:"));
  EXPECT_EQ(world_.violation(), "");
}

}  // namespace
}  // namespace holdfast::sim
