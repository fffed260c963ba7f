#include <thread>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

constexpr lock_options in_any_order{.fair = false};

class unfair : public suite {};
HOLDFAST_FOR(unfair, stores_with({}));

TEST_OF_STORES(unfair, locks_exclude_each_other_and_lose_no_waiter) {
  int counter = 0;  // plain: the lock is all that guards it
  std::vector<store> clients;
  for (std::size_t n = 0; n < 3; ++n) clients.push_back(client(n));
  {
    const test::threads all(9, [&](int me) {
      // Some are fair: both kinds may use one name.
      const lock_options how{.fair = me % 4 == 0};
      for (int k = 0; k < 40; ++k) {
        const lease held = clients[static_cast<std::size_t>(me) % clients.size()].acquire("a", how);
        ++counter;
      }
    });
  }
  EXPECT_EQ(counter, 360);
}

TEST_OF_STORES(unfair, release_wakes_a_waiter) {
  lease first = client(0).acquire("a", in_any_order);
  auto second = in_background([s = client(1)]() mutable { return s.acquire("a", in_any_order); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(second.get().held());
}

TEST_OF_STORES(unfair, release_wakes_a_fair_waiter) {
  lease first = client(0).acquire("a", in_any_order);
  auto second = in_background([s = client(1)]() mutable { return s.acquire("a"); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(second.get().held());
}

TEST_OF_STORES(unfair, locks_have_growing_fences) {
  std::uint64_t last = 0;
  for (int k = 0; k < 5; ++k) {
    const lease held = client(static_cast<std::size_t>(k % 2)).acquire("a", in_any_order);
    EXPECT_GT(held.fence(), last);
    last = held.fence();
  }
}

TEST_OF_STORES(unfair, is_refused_where_all_are_served_in_order) {
  EXPECT_THROW(shared_mutex(client(), "a", in_any_order), lock_error);
  EXPECT_THROW(semaphore(client(), "a", 3, in_any_order), lock_error);
  EXPECT_THROW((void)client().acquire("a", {.fair = false, .shared = true}), lock_error);
}

class unfair_stop : public suite {};
HOLDFAST_FOR(unfair_stop, stores_with({power::stop_clients}));

// The first in line is notified that the lock is free, and does not poll: a newcomer gets it at once, a waiter after a
// while.
TEST_OF_STORES(unfair_stop, lets_others_take_a_lock_announced_to_a_stopped_waiter) {
  lease first = client(0).acquire("a", in_any_order);
  auto second = in_background([s = client(1)]() mutable { return s.acquire("a", in_any_order); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  service_->stop_newest();
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(client(0).acquire("a", in_any_order).held());
  service_->continue_newest();
  EXPECT_TRUE(second.get().held());
}

}  // namespace
}  // namespace holdfast::conformance
