// The six steps from SETNX to a safe lock, on a real server. At each step the lock is taken with plain commands, and
// seen to break; Holdfast does not break in the same situation. docs/safety.md explains each step.
#include <gtest/gtest.h>

#include "faults/redis_store.hpp"
#include "support/child.hpp"

namespace holdfast::faults {
namespace {

class redis_six_steps : public testing::Test {
 protected:
  using words = std::initializer_list<std::string_view>;
  [[nodiscard]] bool says_yes(words w) const {
    const redis::value answer = server.ask(w);
    return answer.number == 1 || answer.text == "OK";
  }
  /// Acquires a lock as in the third step and later ones.
  [[nodiscard]] bool takes(std::string_view who, std::string_view ttl) const {
    return says_yes({"SET", "naive", who, "NX", "PX", ttl});
  }
  /// Waits until the ttl of the stopped holder has expired.
  void run_out() const {
    EXPECT_TRUE(test::eventually([&] { return server.ask({"EXISTS", "naive"}).number == 0; }));
  }
  [[nodiscard]] std::string holder() const { return server.ask({"GET", "naive"}).text; }

  [[nodiscard]] int scripts_run() const {
    const std::string stats = server.ask({"INFO", "commandstats"}).text, before = "cmdstat_evalsha:calls=";
    const std::size_t at = stats.find(before);
    return at == std::string::npos ? 0 : std::stoi(stats.substr(at + before.size()));
  }

  /// A process that takes the lock through Holdfast, and is killed as soon as the server shows a lock.
  void a_holder_dies() const {
    const test::child holder([url = server.url()] {
      store mine = open(url);
      const lease held = mine.acquire("a", {.ttl = 300ms});
      ::pause();
      return false;
    });
    EXPECT_TRUE(test::eventually([&] { return !server.keys().empty(); }));
    holder.kill();
  }

  test::redis_server server;
};

TEST_F(redis_six_steps, one_setnx_stays_locked_when_its_holder_dies) {
  EXPECT_TRUE(says_yes({"SETNX", "naive", "A"}));
  // A dies.
  EXPECT_FALSE(says_yes({"SETNX", "naive", "B"}));
  EXPECT_EQ(server.ask({"PTTL", "naive"}).number, -1) << "it has no end";
  (void)server.ask({"DEL", "naive"});

  a_holder_dies();
  EXPECT_TRUE(open(server.url()).try_acquire("a", within(test::hang)));
}

TEST_F(redis_six_steps, two_setnx_expire_stays_locked_if_the_holder_dies_between) {
  EXPECT_TRUE(says_yes({"SETNX", "naive", "A"}));
  // A dies before its EXPIRE.
  EXPECT_FALSE(says_yes({"SETNX", "naive", "B"}));
  EXPECT_EQ(server.ask({"PTTL", "naive"}).number, -1) << "it has no end";
  (void)server.ask({"DEL", "naive"});

  a_holder_dies();
  const std::string endless =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('PTTL', k) == -1 then return 1 end end return 0";
  EXPECT_FALSE(says_yes({"EVAL", endless, "0"})) << "whenever it dies, there is an end to all that it leaves";
  EXPECT_TRUE(open(server.url()).try_acquire("a", within(test::hang)));
}

TEST_F(redis_six_steps, three_set_nx_px_with_del_frees_a_lock_of_another) {
  EXPECT_TRUE(takes("A", "30"));
  run_out();  // A works longer than it thought
  EXPECT_TRUE(takes("B", "60000"));
  EXPECT_TRUE(says_yes({"DEL", "naive"})) << "A is done";
  EXPECT_TRUE(takes("C", "60000")) << "B and C hold it both";

  watched_client a(server.url()), b(server.url()), c(server.url());
  lease late = a.store.acquire("a", {.ttl = 30ms, .renew = false});
  const lease next = b.store.acquire("a");
  EXPECT_EQ(late.release(), released::lost);
  EXPECT_TRUE(next.held());
  EXPECT_FALSE(c.store.try_acquire("a"));
}

TEST_F(redis_six_steps, four_get_then_del_frees_a_lock_of_another) {
  EXPECT_TRUE(takes("A", "30"));
  EXPECT_EQ(holder(), "A") << "A checks that it holds the lock and pauses before its DEL";
  run_out();
  EXPECT_TRUE(takes("B", "60000"));
  EXPECT_TRUE(says_yes({"DEL", "naive"}));
  EXPECT_TRUE(takes("C", "60000")) << "B and C hold it both";

  fault_proxy proxy(server.socket());
  watched_client a("redis+unix://" + proxy.socket() + "?timeout=200ms", 20s), b(server.url()), c(server.url());
  lease late = a.store.acquire("a", {.ttl = 400ms});
  proxy.treat(fault_proxy::way::to_server, fault_proxy::treatment::hold);
  EXPECT_EQ(late.release(), released::unknown) << "it is on its way";
  const lease next = b.store.acquire("a");
  const int before = scripts_run();
  proxy.treat(fault_proxy::way::to_server, fault_proxy::treatment::pass);
  EXPECT_TRUE(test::eventually([&] { return scripts_run() > before; })) << "the late release never came";
  EXPECT_FALSE(c.store.try_acquire("a"));
  EXPECT_TRUE(next.held());
}

TEST_F(redis_six_steps, five_without_renewal_allows_two_holders) {
  EXPECT_TRUE(takes("A", "30"));
  run_out();  // A still works
  EXPECT_TRUE(takes("B", "60000")) << "A and B work both";

  watched_client a(server.url()), b(server.url());
  lease long_work = a.store.acquire("a", {.ttl = 3s});
  EXPECT_TRUE(a.seen->comes(event::kind::renewed, 4)) << "one at each third of the ttl, so the first ttl has expired";
  EXPECT_FALSE(b.store.try_acquire("a"));
  EXPECT_TRUE(long_work.held());
}

TEST_F(redis_six_steps, six_without_a_fence_lets_a_late_write_win) {
  EXPECT_TRUE(takes("A", "30"));
  EXPECT_EQ(holder(), "A") << "A checks that it holds the lock and is paused before its write, as is its renewer";
  run_out();
  EXPECT_TRUE(takes("B", "60000"));
  EXPECT_TRUE(says_yes({"SET", "data", "B's"}));
  EXPECT_TRUE(says_yes({"SET", "data", "A's"}));
  EXPECT_EQ(server.ask({"GET", "data"}).text, "A's") << "what B wrote is gone, while B holds the lock";

  watched_client a(server.url()), b(server.url());
  const lease paused = a.store.acquire("a", {.ttl = 30ms, .renew = false});
  const lease next = b.store.acquire("a");
  const auto write = [&](const lease& by, const char* what) {
    return server.ask({"EVAL", redis_fence_gate::set(), "2", "{data}", "{data}:fence", format_fence(by.fence()), what});
  };
  EXPECT_EQ(write(next, "B's").number, 1);
  EXPECT_EQ(write(paused, "A's").number, 0) << "refused";
  EXPECT_EQ(server.ask({"GET", "{data}"}).text, "B's");
}

TEST_F(redis_six_steps, six_without_a_fence_lets_two_write_after_a_restart) {
  const test::redis_server data;  // what is locked is elsewhere, and stays
  EXPECT_TRUE(takes("A", "60000"));
  server.kill();
  server.start();
  EXPECT_TRUE(takes("B", "60000")) << "A does not know this and believes for a minute that it holds the lock";
  (void)data.ask({"SET", "data", "B's"});
  (void)data.ask({"SET", "data", "A's"});
  EXPECT_EQ(data.ask({"GET", "data"}).text, "A's") << "what B wrote is gone, while B holds the lock";

  watched_client a(server.url()), b(server.url());
  const lease old = a.store.acquire("a", {.ttl = 1h});
  server.kill();
  server.start();
  const lease next = b.store.acquire("a");
  const auto write = [&](const lease& by, const char* what) {
    return data.ask({"EVAL", redis_fence_gate::set(), "2", "{data}", "{data}:fence", format_fence(by.fence()), what});
  };
  EXPECT_EQ(write(next, "B's").number, 1);
  EXPECT_EQ(write(old, "A's").number, 0) << "refused: fences do not begin again on an empty server";
  EXPECT_TRUE(happens(old.lost_token())) << "A is notified of the loss";
}

}  // namespace
}  // namespace holdfast::faults
