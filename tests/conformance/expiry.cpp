// These tests depend on the passage of time.
#include <thread>

#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class expiry : public suite {
 protected:
  /// Checks repeatedly until that instant.
  template <class F>
  static bool stays(F condition, boot_clock::time_point until) {
    for (bool last = false; !last;) {
      last = boot_clock::now() >= until;
      if (!condition()) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }
};
HOLDFAST_FOR(expiry, stores_with({}));

TEST_OF_STORES(expiry, of_a_fixed_lease_comes_by_itself_and_is_signalled) {
  lease fixed = client(0).acquire("a", {.ttl = brief(), .renew = false});
  EXPECT_TRUE(fixed.held());
  EXPECT_LE(fixed.remaining(), brief());
  EXPECT_TRUE(test::happens(fixed.lost_token()));
  EXPECT_FALSE(fixed.held());
  EXPECT_EQ(fixed.release(), released::lost);
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(expiry, of_a_fixed_lease_comes_before_anybody_else_gets_the_lock) {
  const lease fixed = client(0).acquire("a", {.ttl = brief(), .renew = false});
  const lease next = client(1).acquire("a");
  EXPECT_FALSE(fixed.held());
  EXPECT_TRUE(next.held());
}

TEST_OF_STORES(expiry, spares_a_renewed_lease_for_more_than_four_ttls) {
  const auto begun = boot_clock::now();
  lease held = client(0).acquire("a", {.ttl = brief()});
  std::future<bool> waiting =
      in_background([s = client(1)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(stays([&] { return held.held() && held.remaining() > 0ns; }, begun + 4 * brief()));
  EXPECT_FALSE(is_free("a"));
  EXPECT_NE(waiting.wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(held.lost_token().stop_requested());
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_OF_STORES(expiry, ends_a_renewed_lease_after_max_hold) {
  const auto begun = boot_clock::now();
  lease held = client(0).acquire("a", {.ttl = brief(), .max_hold = 2 * brief()});
  const std::stop_token lost = held.lost_token();
  EXPECT_TRUE(stays([&] { return held.held(); }, begun + brief() + brief() / 2)) << "it was not renewed";
  EXPECT_TRUE(test::happens(lost));
  EXPECT_LE(held.remaining(), 0ns);
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(expiry, is_put_off_by_the_holders_own_renewal) {
  const auto begun = boot_clock::now();
  lease held = client(0).acquire("a", {.ttl = brief(), .renew = false});
  EXPECT_TRUE(held.renew(4 * brief()));
  EXPECT_TRUE(stays([&] { return held.held(); }, begun + 2 * brief()));
  EXPECT_FALSE(is_free("a"));
  EXPECT_EQ(held.release(), released::yes);
}

}  // namespace
}  // namespace holdfast::conformance
