// Many callers share few connections that break: each gets its own reply or learns that the outcome is unknown.
#include <gtest/gtest.h>

#include <atomic>

#include "faults/redis_store.hpp"
#include "redis/transport/connection_pool.hpp"
#include "redis/transport/event_connection.hpp"
#include "support/deaf_listener.hpp"
#include "support/flooding_server.hpp"
#include "support/started.hpp"
#include "support/threads.hpp"

namespace holdfast::faults {
namespace {

using redis::command;
using redis::value;

class redis_pool : public testing::Test {
 protected:
  static constexpr int callers = 16;
  static constexpr int calls_each = 300;

  test::redis_server server;
  runtime::loop loop;
  fault_proxy proxy{server.socket()};
  const redis::dialer dialer{redis::settings::parse("redis+unix://" + proxy.socket() + "?lanes=2&timeout=300ms")};
  redis::connection_pool pool{dialer, loop, [] {}};

  void SetUp() override { loop.start(); }
  void TearDown() override { (void)pool.close_idle_since(runtime::never); }

  [[nodiscard]] redis::reply echo(const std::string& what, const limit& l) {
    command c(2);
    c.add("ECHO").add(what);
    return pool.call(c, l);
  }

  struct counts {
    std::atomic<int> own{0}, of_others{0}, unknown{0};
  };
  /// Callers ask without a pause while `disturb` runs repeatedly.
  template <class F>
  void ask_while(counts& heard, F disturb) {
    std::atomic<int> busy{callers};
    const test::threads all(callers, [&](int n) {
      for (int k = 0; k < calls_each; ++k) {
        const std::string mine = std::to_string(n) + "/" + std::to_string(k);
        const redis::reply got = echo(mine, limit(boot_clock::now() + test::hang));
        const value* const said = std::get_if<value>(&got);
        ++(said == nullptr ? heard.unknown : said->text == mine ? heard.own : heard.of_others);
      }
      --busy;
    });
    while (busy > 0) disturb();
  }
};

TEST_F(redis_pool, gives_each_caller_its_own_reply_when_connections_break) {
  counts heard;
  ask_while(heard, [&] {
    (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
    std::this_thread::sleep_for(1ms);
  });
  EXPECT_EQ(heard.of_others, 0);
  EXPECT_GT(heard.own, 0);
}

TEST_F(redis_pool, gives_each_caller_its_own_reply_when_invalidated) {
  counts heard;
  ask_while(heard, [&] {
    pool.invalidate(storage::failure(errc::unreachable, "not trusted"));
    std::this_thread::sleep_for(100us);
  });
  EXPECT_EQ(heard.of_others, 0);
  EXPECT_GT(heard.own, 0);
}

TEST_F(redis_pool, drops_a_silent_connection_even_if_callers_have_short_limits) {
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  proxy.mute_those_that_are_open();
  EXPECT_TRUE(test::eventually([&] {
    std::this_thread::sleep_for(120ms);  // a short pause, in which it is idle
    const redis::reply got = echo("x", limit(boot_clock::now() + 20ms));
    return std::holds_alternative<value>(got);
  })) << "it is never closed";
}

TEST_F(redis_pool, closes_idle_connections_except_one_that_is_needed) {
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  EXPECT_TRUE(pool.close_idle_since(runtime::never, true));
  EXPECT_TRUE(pool.any_open());
  EXPECT_FALSE(pool.close_idle_since(runtime::never, false));
  EXPECT_FALSE(pool.any_open());
}

TEST_F(redis_pool, has_no_open_connection_after_the_server_hung_up) {
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  EXPECT_TRUE(pool.any_open());
  (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(test::eventually([&] { return !pool.any_open(); }));
  EXPECT_FALSE(pool.call_if_open(command(1).add("PING"), within(test::hang), nullptr));
}

TEST_F(redis_pool, tells_a_command_lost_on_the_way_from_one_never_sent) {
  command c(2);
  c.add("INCR").add("n");
  const auto call = [&] {
    std::optional<redis::abandoned_command> abandoned;
    const redis::reply got = pool.call(c, limit(boot_clock::now() + test::hang), &abandoned);
    EXPECT_TRUE(std::holds_alternative<storage::failure>(got));
    return abandoned;
  };
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  proxy.cut_after(fault_proxy::way::to_client, 0);
  EXPECT_TRUE(call()) << "the reply is lost, the command may not be";
  EXPECT_EQ(server.ask({"GET", "n"}).text, "1");
  proxy.heal();
  server.kill();
  EXPECT_FALSE(call()) << "there was no server to send it to";
}

class redis_flood : public testing::Test {
 protected:
  runtime::loop loop;

  void SetUp() override { loop.start(); }
  [[nodiscard]] static redis::settings to(const test::flooding_server& s, const std::string& timeout) {
    return redis::settings::parse("redis+unix://" + s.socket() + "?timeout=" + timeout);
  }
  /// Returns the error of a blocking call.
  [[nodiscard]] storage::failure failure_of_call(const test::flooding_server& s, const std::string& timeout, limit l) {
    const redis::dialer dialer{to(s, timeout)};
    redis::connection_pool pool{dialer, loop, [] {}};
    command c(1);
    c.add("PING");
    auto calling = std::async(std::launch::async, [&] { return pool.call(c, l); });
    redis::reply got = test::get(std::move(calling));
    (void)pool.close_idle_since(runtime::never);
    return std::get<storage::failure>(got);
  }
};

TEST_F(redis_flood, does_not_delay_a_caller_beyond_its_limit) {
  const test::flooding_server server;
  const storage::failure why = failure_of_call(server, "1h", within(300ms));
  EXPECT_NE(why.text.find("within the limit"), std::string::npos) << why.text;
  EXPECT_TRUE(server.floods());
}

TEST_F(redis_flood, does_not_delay_a_caller_that_is_stopped) {
  const test::flooding_server server;
  std::stop_source stop;
  std::thread stopping([&] {
    EXPECT_TRUE(test::eventually([&] { return server.floods(); }));
    stop.request_stop();
  });
  const storage::failure why = failure_of_call(server, "1h", until(stop.get_token()));
  stopping.join();
  EXPECT_NE(why.text.find("within the limit"), std::string::npos) << why.text;
}

TEST_F(redis_flood, breaks_a_pooled_connection_that_gets_no_reply) {
  const test::flooding_server server;
  const storage::failure why = failure_of_call(server, "300ms", limit(runtime::never));
  EXPECT_NE(why.text.find("no answer for 300 ms"), std::string::npos) << why.text;
}

TEST_F(redis_flood, breaks_the_event_connection_that_gets_no_reply) {
  const test::flooding_server server;
  const redis::dialer dialer{to(server, "300ms")};
  test::deaf_listener deaf;
  redis::event_connection events(dialer, {.inboxes = "in:", .id = "me", .introduction = {}}, loop, deaf);
  runtime::task_group tasks(loop);
  command c(1);
  c.add("PING");
  auto got = test::start(tasks, events.call(loop, c, limit(boot_clock::now() + test::hang)));
  EXPECT_TRUE(test::eventually([&] { return server.connections_gone() != 0; })) << "it is never closed";
  EXPECT_TRUE(std::holds_alternative<storage::failure>(test::get(std::move(got))));
  events.close();
  tasks.wait_until_empty();
}

TEST(redis_flood_of_messages, delays_no_renewal_beyond_its_lease) {
  const test::redis_server server;
  watched_client one(server.url());
  const lease held = one.store.acquire("a", {.ttl = 3s});
  EXPECT_TRUE(one.seen->comes(event::kind::renewed));
  const std::string channel = server.ask({"PUBSUB", "SHARDCHANNELS"}).items.at(0).text;
  command junk(3);
  junk.add("SPUBLISH").add(channel).add(std::string(100, 'x'));
  std::string batch;
  for (int n = 0; n < 1000; ++n) batch += junk.bytes();
  const redis::dialer dialer{redis::settings::parse(server.url())};
  const std::unique_ptr<redis::connection> publisher = dialer.open(within(test::hang));
  const std::size_t renewed = one.seen->events(event::kind::renewed).size();
  int sent = 0;
  const auto enough = [&] { return sent >= 200 && one.seen->events(event::kind::renewed).size() >= renewed + 2; };
  const auto hangs_at = boot_clock::now() + test::hang;
  for (; !enough() && held.held() && boot_clock::now() < hangs_at; ++sent) {
    std::string bytes = batch;
    while (!publisher->send(bytes)) (void)publisher->receive();
    for (int replies = 0; replies < 1000;) {
      while (publisher->next()) ++replies;
      if (replies < 1000) (void)publisher->receive_soon();
    }
  }
  EXPECT_TRUE(enough());
  EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast::faults
