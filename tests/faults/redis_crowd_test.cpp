// Thousands of holders and waiters at one Redis server.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "faults/redis_store.hpp"
#include "redis/lock/client.hpp"
#include "runtime/guarded.hpp"
#include "runtime/inline_io.hpp"

namespace holdfast::faults {
namespace {

constexpr int crowd_size = 10'000;

class redis_crowd : public testing::Test {
 protected:
  test::redis_server server;
  holdfast::store store = open(server.url("timeout=2s"));
};

TEST_F(redis_crowd, takes_back_permits_that_expire_together) {
  semaphore permits(store, "a", crowd_size, {.ttl = 2s, .renew = false});
  std::vector<lease> all;
  for (int n = 0; n < crowd_size; ++n) all.push_back(permits.take());
  const lease everything = permits.take(crowd_size);
  EXPECT_TRUE(everything.held());
  all.clear();
  EXPECT_TRUE(everything.held()) << "a lock that was lost before is not released a second time";
}

TEST_F(redis_crowd, admits_all_readers_when_the_writer_releases) {
  lease writer = store.acquire("a", {.ttl = 1h});
  std::atomic<int> came{0}, failed{0};
  runtime::guarded<std::vector<lease>> in;
  const holdfast::store readers = open(server.url("timeout=2s"));
  for (int n = 0; n < crowd_size; ++n) {
    holdfast::store(readers).async_try_acquire("a", within(test::hang), {.ttl = 60s, .shared = true},
                                               [&](std::error_code why, std::optional<lease> got) {
                                                 if (why || !got) {
                                                   ++failed;
                                                   return;
                                                 }
                                                 in.with([&](auto& all) { all.push_back(std::move(*got)); });
                                                 ++came;
                                               });
  }
  EXPECT_TRUE(test::eventually([&] { return server.ask({"ZCARD", "holdfast:{a}:q"}).number == crowd_size; }));
  EXPECT_EQ(writer.release(), released::yes);
  EXPECT_TRUE(test::eventually([&] { return came + failed == crowd_size; }));
  EXPECT_EQ(failed, 0);
  const std::vector<lease> all = in.with([](auto& now) { return std::exchange(now, {}); });
  for (const lease& one : all) ASSERT_EQ(one.fence(), all.front().fence());
}

// Uses the Redis client directly: the engine would let only one caller of a process ask the server at a time.
TEST_F(redis_crowd, serves_waiters_in_order) {
  runtime::loop loop;
  const std::unique_ptr<redis::client> client = redis::client::open(server.url("timeout=2s"), loop);
  loop.start();
  runtime::inline_io here;
  const limit enough = within(test::hang);
  std::vector<std::unique_ptr<storage::claim>> claims;
  for (std::uint64_t n = 0; n < crowd_size; ++n) {
    storage::claim_spec spec{.name = "a", .owner = {1, n}, .ttl = 60s};
    claims.push_back(client->open(std::move(spec)));
    const bool granted = run_inline(claims.back()->poll(here, enough)).is_yes();
    ASSERT_EQ(granted, n == 0);
  }
  std::uint64_t fence = 0;
  for (const auto& next : claims) {
    std::optional<std::uint64_t> got;
    while (!got) {
      storage::answer<storage::grant> answer = run_inline(next->poll(here, enough));
      ASSERT_FALSE(answer.is_unknown()) << answer.why().text;
      if (answer.is_yes()) {
        got = answer.value().fence;
      } else {
        ASSERT_EQ(run_inline(next->wakeup(here, enough)), runtime::wake::signalled);
      }
    }
    ASSERT_GT(*got, fence);
    fence = *got;
    ASSERT_TRUE(run_inline(next->release(here, enough)).is_yes());
  }
  claims.clear();
  client->close();
  loop.stop();
}

}  // namespace
}  // namespace holdfast::faults
