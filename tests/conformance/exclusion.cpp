#include <atomic>
#include <mutex>

#include "conformance/suite.hpp"
#include "support/user_coroutine.hpp"

namespace holdfast::conformance {
namespace {

class exclusion : public suite {};
HOLDFAST_FOR(exclusion, stores_with({}));

TEST_OF_STORES(exclusion, says_what_it_promises) {
  const guarantees g = client().promises();
  EXPECT_EQ(g.by, joined_store().promises.by);
  EXPECT_EQ(g.fair, joined_store().promises.fair);
  EXPECT_EQ(g.survives_restart, joined_store().promises.survives_restart);
  EXPECT_EQ(g.notices_death_at_once, joined_store().promises.notices_death_at_once);
}

TEST_OF_STORES(exclusion, lets_one_client_hold_a_name_at_a_time) {
  lease first = client(0).acquire("a");
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(client(1).try_acquire("a"));
  EXPECT_FALSE(client(0).try_acquire("a"));
  std::error_code why;  // such a short limit may end before the store can answer
  EXPECT_FALSE(client(1).try_acquire("a", within(5ms), {}, why));
  EXPECT_EQ(first.release(), released::yes);
  // One poll is not enough: the claim that gave up above leaves the queue in the background and may be granted
  // meanwhile.
  const std::optional<lease> second = client(1).try_acquire("a", within(10s));
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->held());
  EXPECT_FALSE(first.held());
}

TEST_OF_STORES(exclusion, keeps_different_names_apart) {
  const lease a = client(0).acquire("a"), b = client(0).acquire("b"), c = client(1).acquire("c");
  EXPECT_TRUE(a.held() && b.held() && c.held());
}

TEST_OF_STORES(exclusion, keeps_the_threads_of_one_client_apart) {
  int counter = 0;  // plain: the lock is all that guards it
  {
    const test::threads all(8, [&, s = client()](int) mutable {
      for (int k = 0; k < 50; ++k) {
        const lease held = s.acquire("a");
        ++counter;
      }
    });
  }
  EXPECT_EQ(counter, 400);
}

TEST_OF_STORES(exclusion, keeps_the_threads_of_several_clients_apart) {
  int counter = 0;
  std::vector<store> clients;
  for (std::size_t n = 0; n < 4; ++n) clients.push_back(client(n));
  {
    const test::threads all(8, [&](int me) {
      store& mine = clients[static_cast<std::size_t>(me) % clients.size()];
      for (int k = 0; k < 50; ++k) {
        const lease held = mine.acquire("a");
        ++counter;
      }
    });
  }
  EXPECT_EQ(counter, 400);
}

TEST_OF_STORES(exclusion, holds_for_clients_with_very_short_limits) {
  int counter = 0;
  std::atomic<int> entered{0};
  std::vector<store> clients;
  for (std::size_t n = 0; n < 4; ++n) clients.push_back(client(n));
  {
    const test::threads all(8, [&](int me) {
      store& mine = clients[static_cast<std::size_t>(me) % clients.size()];
      for (int k = 0; k < 50; ++k) {
        std::error_code why;  // such a short limit may end before the store can answer
        const std::optional<lease> held =
            mine.try_acquire("a", within(std::chrono::microseconds(40 * (k % 10))), {.ttl = 1h}, why);
        if (!held) continue;
        ++counter;
        ++entered;
      }
    });
  }
  EXPECT_EQ(counter, entered);
  EXPECT_TRUE(client().try_acquire("a", within(test::hang))) << "a client left without releasing the lock";
}

TEST_OF_STORES(exclusion, keeps_threads_and_mutexes_apart) {
  int counter = 0;
  mutex here(client(0), "a"), there(client(1), "a");
  {
    const test::threads all(4, [&](int me) {
      for (int k = 0; k < 50; ++k) {
        const std::scoped_lock guard(me % 2 == 0 ? here : there);
        ++counter;
      }
    });
  }
  EXPECT_EQ(counter, 200);
}

test::user_coroutine count(store s, int times, int& counter, std::counting_semaphore<>& ended) {
  for (int k = 0; k < times; ++k) {
    lease held = co_await s.async_acquire("a");
    ++counter;
    const released end = co_await held.async_release();
    EXPECT_EQ(end, released::yes);
  }
  ended.release();
}

TEST_OF_STORES(exclusion, keeps_threads_and_coroutines_and_callbacks_apart) {
  int counter = 0;
  std::counting_semaphore<> ended(0);
  store first = client(0), second = client(1);
  for (int k = 0; k < 4; ++k) count(k % 2 == 0 ? first : second, 25, counter, ended);
  for (int k = 0; k < 20; ++k) {
    first.async_try_acquire("a", within(1h), {}, [&](std::error_code why, std::optional<lease> held) {
      EXPECT_FALSE(why);
      if (held) ++counter;
      held.reset();
      ended.release();
    });
  }
  {
    const test::threads all(4, [&](int me) {
      store& mine = me % 2 == 0 ? first : second;
      for (int k = 0; k < 25; ++k) {
        const lease held = mine.acquire("a");
        ++counter;
      }
    });
  }
  for (int k = 0; k < 24; ++k) ASSERT_TRUE(test::happens(ended));
  EXPECT_EQ(counter, 220);
}

TEST_OF_STORES(exclusion, serves_a_thousand_waiters_on_one_name) {
  constexpr int many = 1'000;
  int counter = 0;
  std::counting_semaphore<> ended(0);
  lease held = client(0).acquire("a");
  for (int k = 0; k < many; ++k) {
    client(static_cast<std::size_t>(k) % 4)
        .async_try_acquire("a", within(1h), {}, [&](std::error_code, std::optional<lease> mine) {
          if (mine) ++counter;
          mine.reset();
          ended.release();
        });
  }
  for (std::size_t n = 0; n < 4; ++n) EXPECT_TRUE(seen(n).comes(event::kind::waiting, many / 4));
  EXPECT_EQ(held.release(), released::yes);
  for (int k = 0; k < many; ++k) ASSERT_TRUE(test::happens(ended)) << k;
  EXPECT_EQ(counter, many);
}

}  // namespace
}  // namespace holdfast::conformance
