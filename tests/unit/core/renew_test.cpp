// lease.renew(): the holder's own renewal, with a ttl of its choice.
#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using renew = engine_test;

TEST_F(renew, extends_by_the_ttl_from_now_and_renews_with_it_from_then_on) {
  const auto lease = client_.take("a");
  world_.advance(1s);
  EXPECT_TRUE(client_.renew(lease, 60s).get().is_yes());
  EXPECT_EQ(lease->of()->deadline(), world_.io.now() + 60s - 602ms);
  EXPECT_EQ(lease->of()->ttl(), 60s);
  world_.advance(10min);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_GE(lease->of()->deadline(), world_.io.now() + 39s);
}

TEST_F(renew, with_a_shorter_ttl_never_shortens_what_is_held_already) {
  const auto lease = client_.take("a");
  const instant deadline = lease->of()->deadline();
  EXPECT_TRUE(client_.renew(lease, 1s).get().is_yes());
  EXPECT_EQ(lease->of()->deadline(), deadline);
  world_.advance(deadline - world_.io.now() - 1ms);
  EXPECT_TRUE(client_.held(lease));
  EXPECT_EQ(client_.look("a").what, kind::busy);
}

TEST_F(renew, with_a_shorter_ttl_is_renewed_at_that_pace) {
  const auto lease = client_.take("a");
  EXPECT_TRUE(client_.renew(lease, 1s).get().is_yes());
  world_.advance(1min);
  EXPECT_TRUE(client_.held(lease));
  world_.lose_all_requests();
  world_.advance(1s);
  EXPECT_FALSE(client_.held(lease));
}

TEST_F(renew, with_a_longer_ttl_does_not_count_before_the_reply_is_there) {
  const auto lease = client_.take("a");
  const instant deadline = lease->of()->deadline();
  client_.store.hold_back(call::renew);
  std::future<storage::answer<instant>> asked = client_.renew(lease, 60s, 500ms);
  EXPECT_EQ(lease->of()->deadline(), deadline);
  world_.advance(500ms);
  EXPECT_TRUE(asked.get().is_unknown());
  EXPECT_EQ(lease->of()->deadline(), deadline);
}

TEST_F(renew, of_a_fixed_lease_moves_its_end) {
  const auto lease = client_.take("a", {.on = {.ttl = 10s, .renew = false}});
  world_.advance(5s);
  EXPECT_TRUE(client_.renew(lease, 10s).get().is_yes());
  world_.advance(9s);
  EXPECT_TRUE(client_.held(lease));
  world_.advance(1s);
  EXPECT_FALSE(client_.held(lease));
}

TEST_F(renew, fails_when_the_store_is_silent_for_its_patience) {
  const auto lease = client_.take("a", {.on = {.ttl = 60s}});
  const instant deadline = lease->of()->deadline();
  world_.lose_all_requests();
  std::future<storage::answer<instant>> asked = client_.renew(lease, 60s, 1h);
  world_.advance(5s - 1ns);
  EXPECT_FALSE(is_ready(asked));
  world_.advance(1ns);
  ASSERT_TRUE(is_ready(asked)) << "it waits for longer than the store is allowed to be silent";
  EXPECT_TRUE(asked.get().is_unknown());
  EXPECT_EQ(lease->of()->deadline(), deadline);
  EXPECT_TRUE(client_.held(lease));
}

TEST_F(renew, fails_when_half_of_the_time_to_the_deadline_has_passed) {
  const auto lease = client_.take("a", {.on = {.ttl = 2s}});
  world_.lose_all_requests();
  std::future<storage::answer<instant>> asked = client_.renew(lease, 2s, 1h);
  world_.advance((2s - 22ms) / 2 - 1ns);
  EXPECT_FALSE(is_ready(asked));
  world_.advance(1ns);
  ASSERT_TRUE(is_ready(asked));
  EXPECT_TRUE(asked.get().is_unknown());
}

TEST_F(renew, without_an_answer_leaves_time_for_another_renewal) {
  const auto lease = client_.take("a", {.on = {.ttl = 2s}});
  client_.store.hold_back(call::renew);  // this one reply never comes
  std::future<storage::answer<instant>> asked = client_.renew(lease, 2s, 1h);
  client_.store.pass_on_from_now();
  world_.advance(1min);
  EXPECT_TRUE(asked.get().is_unknown());
  EXPECT_TRUE(client_.held(lease)) << "the holder's own renewal kept the renewer waiting for too long";
  EXPECT_TRUE(client_.seen->events(event::kind::lost).empty());
}

TEST_F(renew, of_a_lost_lease_says_no_at_once_while_it_is_released) {
  const auto lease = client_.take("a", {.on = {.ttl = 1s, .renew = false}});
  client_.store.hold_back(call::release);
  world_.advance(1s);
  ASSERT_EQ(client_.store.held_back(), 1u) << "it is not released";
  std::future<storage::answer<instant>> asked = client_.renew(lease, 1s);
  ASSERT_TRUE(is_ready(asked)) << "it waits for its turn";
  EXPECT_TRUE(asked.get().is_no());
}

TEST_F(renew, beyond_max_hold_is_not_followed_by_renewals_for_nothing) {
  const auto lease = client_.take("a", {.on = {.ttl = 1s, .max_hold = 2s}});
  EXPECT_TRUE(client_.renew(lease, 1h).get().is_yes());
  world_.advance(3s);
  ASSERT_TRUE(client_.held(lease)) << "its holder has asked for an hour";
  client_.store.cut(call::renew);
  EXPECT_TRUE(client_.renew(lease, 1h).get().is_unknown());  // the renewer finds that the lease has expired
  world_.advance(2h);
  EXPECT_FALSE(client_.held(lease));
  for (const milliseconds ttl : client_.store.renewed_for()) EXPECT_GE(ttl, 10ms);
  EXPECT_EQ(client_.store.count(call::renew), 2) << "only the holder's own";
}

TEST_F(renew, of_a_lost_or_released_lease_sends_no_request) {
  const auto lost = client_.take("a", {.on = {.ttl = 1s, .renew = false}});
  const auto gone = client_.take("b");
  (void)client_.give(gone);
  world_.advance(1s);
  EXPECT_TRUE(client_.renew(lost, 1s).get().is_no());
  EXPECT_TRUE(client_.renew(gone, 1s).get().is_no());
  EXPECT_EQ(client_.store.count(call::renew), 0);
}

TEST_F(renew, that_the_store_rejects_is_a_loss) {
  const auto lease = client_.take("a");
  world_.server->forget_everything();
  EXPECT_TRUE(client_.renew(lease, 1s).get().is_no());
  EXPECT_FALSE(client_.held(lease));
  EXPECT_EQ(client_.seen->events(event::kind::lost).size(), 1u);
}

TEST_F(renew, waits_for_a_renewal_in_flight_within_its_limit) {
  const auto lease = client_.take("a");
  client_.store.hold_back(call::renew);
  world_.advance(3'333ms);
  std::future<storage::answer<instant>> impatient = client_.renew(lease, 20s, 100ms),
                                        patient = client_.renew(lease, 30s);
  world_.advance(100ms);
  EXPECT_TRUE(impatient.get().is_unknown());
  EXPECT_FALSE(is_ready(patient));
  client_.store.deliver();
  world_.run();
  EXPECT_TRUE(patient.get().is_yes());
  EXPECT_EQ(lease->of()->ttl(), 30s);
}

}  // namespace
}  // namespace holdfast::core::engine_tests
