// What becomes of locks and places whose process is gone, or stands still.
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class death : public suite {
 protected:
  [[nodiscard]] std::future<bool> wait_in(std::size_t n) {
    std::future<bool> end =
        in_background([s = client(n)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));  // it has its place
    return end;
  }
};
HOLDFAST_FOR(death, stores_with({power::end_clients}));

TEST_P(death, of_the_holder_frees_its_lock) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief()});
  service_->kill_newest();
  EXPECT_TRUE(client(0).try_acquire("a", within(test::hang)));
}

TEST_P(death, of_the_holder_wakes_those_who_wait) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief()});
  std::future<bool> waiting =
      in_background([s = client(0)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_P(death, of_a_waiter_lets_the_one_behind_it_pass) {
  lease held = client(0).acquire("a");
  (void)client(2);
  std::future<std::error_code> dying = in_background([s = client(1)]() mutable {
    std::error_code why;
    EXPECT_FALSE(s.try_acquire("a", within(test::hang), {}, why));
    return why;
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> behind = wait_in(2);
  service_->kill_newest();  // the newest is 1: 2 was opened before it
  EXPECT_EQ(test::get(std::move(dying)), errc::unreachable);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(behind)));
}

TEST_P(death, of_the_holder_wakes_the_one_whose_predecessor_has_given_up) {
  (void)client(0);
  (void)client(2);
  lease held = client(1).acquire("a", {.ttl = brief()});
  std::stop_source stop;
  std::future<bool> first = in_background(
      [s = client(0), t = stop.get_token()]() mutable { return s.try_acquire("a", until(t)).has_value(); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  std::future<bool> second = wait_in(2);
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(first)));
  service_->kill_newest();
  EXPECT_TRUE(test::get(std::move(second)));
}

class standstill : public suite {};
HOLDFAST_FOR(standstill, stores_with({power::stop_clients}));

TEST_P(standstill, of_a_holder_with_a_fixed_lease_ends_with_its_ttl) {
  (void)client(0);
  lease fixed = client(1).acquire("a", {.ttl = brief(), .renew = false});
  service_->stop_newest();
  const std::optional<lease> next = client(0).try_acquire("a", within(test::hang));
  EXPECT_TRUE(next);
  EXPECT_FALSE(fixed.held());
  service_->continue_newest();
  EXPECT_EQ(fixed.release(), released::lost);
  EXPECT_TRUE(next->held());
}

class standstill_under_a_kernel : public suite {};
HOLDFAST_FOR(standstill_under_a_kernel, stores_with({power::stop_clients}, guarantees::exclusion::kernel));

TEST_P(standstill_under_a_kernel, of_a_holder_keeps_the_lock_because_it_is_known_to_live) {
  (void)client(0);
  lease held = client(1).acquire("a", {.ttl = brief() / 3});
  service_->stop_newest();
  EXPECT_FALSE(client(0).try_acquire("a", within(brief())));
  service_->continue_newest();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

}  // namespace
}  // namespace holdfast::conformance
