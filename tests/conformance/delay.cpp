#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class delay : public suite {
 protected:
  [[nodiscard]] lock_options delayed() const { return {.ttl = brief(), .renew = false, .delay = 2 * brief()}; }
};
HOLDFAST_FOR(delay, stores_with({}));

TEST_OF_STORES(delay, does_not_matter_when_the_lock_is_released) {
  lease first = client(0).acquire("a", {.delay = 60s});
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(delay, keeps_the_lock_closed_after_a_loss) {
  const lease first = client(0).acquire("a", delayed());
  EXPECT_LE(first.remaining(), brief());
  const boot_clock::time_point end = first.deadline();
  EXPECT_TRUE(test::happens(first.lost_token()));
  const lease next = client(1).acquire("a");
  EXPECT_GT(boot_clock::now() - end, brief());  // not twice as long: clocks may differ by a hundredth
  EXPECT_GT(next.fence(), first.fence());
}

TEST_OF_STORES(delay, keeps_a_holder_of_the_same_client_out_too) {
  const lease first = client(0).acquire("a", delayed());
  EXPECT_TRUE(test::happens(first.lost_token()));
  EXPECT_FALSE(client(0).try_acquire("a"));
  EXPECT_TRUE(client(0).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(delay, gives_a_waiter_its_full_ttl) {
  lease first = client(0).acquire("a");
  auto second = in_background([s = client(1)]() mutable { return s.acquire("a", {.ttl = 5s, .delay = 20s}); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  EXPECT_EQ(first.release(), released::yes);
  lease got = second.get();
  EXPECT_TRUE(got.held());
  EXPECT_EQ(got.release(), released::yes);
}

TEST_OF_STORES(delay, is_at_most_ten_ttls) {
  try {
    (void)client().acquire("a", {.ttl = 100ms, .delay = 1'001ms});
    ADD_FAILURE() << "it was taken";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::bad_option);
  }
}

class delay_of_the_dead : public suite {};
HOLDFAST_FOR(delay_of_the_dead, stores_with({power::end_clients}));

TEST_OF_STORES(delay_of_the_dead, keeps_the_lock_closed) {
  (void)client(0);
  const lease first = client(1).acquire("a", {.ttl = brief(), .delay = 2 * brief()});
  service_->kill_newest();
  const boot_clock::time_point dead = boot_clock::now();
  EXPECT_FALSE(client(0).try_acquire("a"));
  EXPECT_TRUE(client(0).try_acquire("a", within(test::hang)));
  EXPECT_GT(boot_clock::now() - dead, brief());
}

}  // namespace
}  // namespace holdfast::conformance
