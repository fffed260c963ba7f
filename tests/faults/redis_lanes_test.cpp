// Many callers on few connections that break: each hears its own reply, or that it is not known.
#include <gtest/gtest.h>

#include <atomic>

#include "faults/redis_store.hpp"
#include "redis/lanes.hpp"
#include "support/threads.hpp"

namespace holdfast::faults {
namespace {

using redis::command;
using redis::value;

class redis_lanes : public testing::Test {
 protected:
  static constexpr int callers = 16;
  static constexpr int calls_each = 300;

  test::redis_server server;
  runtime::loop loop;
  fault_proxy proxy{server.socket()};
  const redis::dialer dialer{redis::settings::parse("redis+unix://" + proxy.socket() + "?lanes=2&timeout=300ms")};
  redis::lanes lanes{dialer, loop, [] {}};

  void SetUp() override { loop.start(); }
  void TearDown() override { (void)lanes.close_idle_since(runtime::never); }

  [[nodiscard]] redis::reply echo(const std::string& what, const limit& l) {
    command c(2);
    c.add("ECHO").add(what);
    std::optional<redis::left_behind> left;
    return lanes.call(c, l, left);
  }

  struct counts {
    std::atomic<int> own{0}, of_others{0}, unknown{0};
  };
  /// Callers ask without a pause, while `disturb` runs again and again.
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

TEST_F(redis_lanes, give_no_caller_the_reply_of_another_when_connections_break) {
  counts heard;
  ask_while(heard, [&] {
    (void)server.ask({"CLIENT", "KILL", "TYPE", "normal"});
    std::this_thread::sleep_for(1ms);
  });
  EXPECT_EQ(heard.of_others, 0);
  EXPECT_GT(heard.own, 0);
}

TEST_F(redis_lanes, give_no_caller_the_reply_of_another_when_connections_are_not_trusted_any_more) {
  counts heard;
  ask_while(heard, [&] {
    lanes.distrust(seam::failure(errc::unreachable, "not trusted"));
    std::this_thread::sleep_for(100us);
  });
  EXPECT_EQ(heard.of_others, 0);
  EXPECT_GT(heard.own, 0);
}

TEST_F(redis_lanes, are_dropped_when_they_owe_replies_for_too_long_however_short_the_limits_of_their_callers_are) {
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  proxy.mute_those_that_are_open();
  EXPECT_TRUE(test::eventually([&] {
    std::this_thread::sleep_for(120ms);  // it rests in between, and not for long
    const redis::reply got = echo("x", limit(boot_clock::now() + 20ms));
    return std::holds_alternative<value>(got);
  })) << "it is never given up";
}

TEST_F(redis_lanes, tell_a_command_that_was_lost_on_the_way_from_one_that_was_never_sent) {
  command c(2);
  c.add("INCR").add("n");
  const auto call = [&] {
    std::optional<redis::left_behind> left;
    const redis::reply got = lanes.call(c, limit(boot_clock::now() + test::hang), left);
    EXPECT_TRUE(std::holds_alternative<seam::failure>(got));
    return left;
  };
  (void)echo("warm", limit(boot_clock::now() + test::hang));
  proxy.cut_after(fault_proxy::way::to_client, 0);
  EXPECT_TRUE(call()) << "the reply is lost, and perhaps the command is not";
  EXPECT_EQ(server.ask({"GET", "n"}).text, "1");
  proxy.heal();
  server.kill();
  EXPECT_FALSE(call()) << "nobody was there to send it to";
}

}  // namespace
}  // namespace holdfast::faults
