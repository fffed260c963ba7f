#include <gtest/gtest.h>

#include "unit/core/world.hpp"

namespace holdfast::core::engine_tests {
namespace {

using lease_ptr = std::shared_ptr<lease_state>;

class hand_over : public testing::Test {
 protected:
  /// Releases the lease and replaces it by that of the next waiter. Returns true if the store got no request.
  static bool is_handed_over(client& c, lease_ptr& lease, std::future<outcome>& next) {
    const std::size_t before = c.store.calls().size();
    EXPECT_EQ(c.give(lease).get(), released::yes);
    const lease_ptr then = c.taken(next);
    EXPECT_FALSE(c.held(lease));
    EXPECT_TRUE(c.held(then));
    EXPECT_GT(then->fence(), lease->fence());
    const bool same_hold = then->of() == lease->of();
    EXPECT_EQ(same_hold, c.store.calls().size() == before);
    lease = then;
    return same_hold;
  }
  /// Same as above, for a holder and a waiter with these terms.
  bool is_handed_over(const terms& holder, const terms& caller) {
    client c(world_);
    lease_ptr lease = c.take("a", {.on = holder});
    std::future<outcome> next = c.ask("a", {.on = caller});
    return is_handed_over(c, lease, next);
  }

  world world_;
};

TEST_F(hand_over, costs_no_request_and_takes_the_next_fence) {
  client c(world_);
  lease_ptr lease = c.take("a");
  const std::uint64_t first = lease->fence();
  std::future<outcome> next = c.ask("a");
  EXPECT_TRUE(is_handed_over(c, lease, next));
  EXPECT_EQ(lease->fence(), first + 1);
  EXPECT_EQ(c.store.calls(), std::vector{call::poll});
}

TEST_F(hand_over, ends_after_a_burst_and_resumes_with_the_next_holding) {
  client c(world_, {.patience = 5s, .burst = 3});
  lease_ptr lease = c.take("a");
  std::vector<std::future<outcome>> waiting;
  for (int k = 0; k < 6; ++k) waiting.push_back(c.ask("a"));
  std::vector<bool> handed_over;
  for (auto& next : waiting) handed_over.push_back(is_handed_over(c, lease, next));
  EXPECT_EQ(handed_over, (std::vector{true, true, false, true, true, false}));
}

TEST_F(hand_over, never_happens_with_a_burst_of_one) {
  client c(world_, {.patience = 5s, .burst = 1});
  lease_ptr lease = c.take("a");
  std::future<outcome> next = c.ask("a");
  EXPECT_FALSE(is_handed_over(c, lease, next));
}

TEST_F(hand_over, lets_another_process_have_its_turn_after_the_burst) {
  client c(world_, {.patience = 5s, .burst = 3}), other(world_);
  lease_ptr lease = c.take("a");
  std::future<outcome> theirs = other.ask("a");
  std::vector<std::future<outcome>> mine;
  for (int k = 0; k < 3; ++k) mine.push_back(c.ask("a"));
  EXPECT_TRUE(is_handed_over(c, lease, mine[0]));
  EXPECT_TRUE(is_handed_over(c, lease, mine[1]));
  EXPECT_FALSE(is_ready(theirs));
  (void)c.give(lease);
  const lease_ptr others = other.taken(theirs);
  EXPECT_GT(others->fence(), lease->fence());
  EXPECT_FALSE(is_ready(mine[2]));
  (void)other.give(others);
  EXPECT_GT(c.taken(mine[2])->fence(), others->fence());
}

TEST_F(hand_over, ends_when_the_turn_has_lasted_for_a_tenth_of_the_ttl) {
  for (const bool too_long : {false, true}) {
    client c(world_);
    lease_ptr lease = c.take("a");
    std::future<outcome> next = c.ask("a"), last = c.ask("a");
    world_.advance(500ms);
    EXPECT_TRUE(is_handed_over(c, lease, next));
    world_.advance(too_long ? 500ms : 500ms - 1ns);  // counted from the first lease
    EXPECT_EQ(is_handed_over(c, lease, last), !too_long);
  }
}

TEST_F(hand_over, happens_only_while_more_than_half_of_the_ttl_is_left) {
  for (const bool too_old : {false, true}) {
    client c(world_, {.patience = 30s, .burst = 16});
    c.store.hold_back(call::poll);
    std::future<outcome> first = c.ask("a"), next = c.ask("a");
    world_.advance(too_old ? 4'898ms : 4'898ms - 1ns);  // in flight; 5 s of 9.898 s are left then
    c.store.deliver();
    world_.run();
    lease_ptr lease = c.taken(first);
    EXPECT_EQ(is_handed_over(c, lease, next), !too_old);
  }
}

TEST_F(hand_over, happens_only_on_equal_terms) {
  const terms usual{.ttl = 10s}, labelled{.ttl = 10s, .label = "x"};
  EXPECT_TRUE(is_handed_over(usual, usual));
  EXPECT_TRUE(is_handed_over(labelled, labelled));
  EXPECT_FALSE(is_handed_over(usual, terms{.ttl = 11s}));
  EXPECT_FALSE(is_handed_over(terms{.ttl = 11s}, usual));
  EXPECT_FALSE(is_handed_over(usual, labelled));
}

TEST_F(hand_over, is_not_for_fixed_or_bounded_leases) {
  const terms usual{.ttl = 10s}, fixed{.ttl = 10s, .renew = false}, bounded{.ttl = 10s, .max_hold = 20s};
  EXPECT_FALSE(is_handed_over(fixed, fixed));
  EXPECT_FALSE(is_handed_over(bounded, bounded));
  EXPECT_FALSE(is_handed_over(usual, fixed));
  EXPECT_FALSE(is_handed_over(usual, bounded));
  EXPECT_FALSE(is_handed_over(fixed, usual));
}

TEST_F(hand_over, is_not_for_a_holding_whose_ttl_was_changed) {
  client c(world_);
  lease_ptr lease = c.take("a");
  std::future<outcome> next = c.ask("a");
  ASSERT_TRUE(c.renew(lease, 20s).get().is_yes());
  EXPECT_FALSE(is_handed_over(c, lease, next));
}

TEST_F(hand_over, does_not_skip_a_waiter_that_wants_other_terms) {
  client c(world_);
  lease_ptr lease = c.take("a");
  std::future<outcome> other_terms = c.ask("a", {.on = {.ttl = 11s}}), same_terms = c.ask("a");
  EXPECT_FALSE(is_handed_over(c, lease, other_terms));
  EXPECT_FALSE(is_ready(same_terms));
}

TEST_F(hand_over, skips_a_waiter_that_has_given_up) {
  client c(world_);
  lease_ptr lease = c.take("a");
  std::future<outcome> gone = c.ask("a", {.within = 100ms}), next = c.ask("a");
  world_.advance(100ms);
  EXPECT_EQ(c.end_of(gone).what, kind::busy);
  EXPECT_TRUE(is_handed_over(c, lease, next));
}

TEST_F(hand_over, is_not_lost_when_its_receiver_stops_in_the_same_instant) {
  client c(world_);
  const lease_ptr lease = c.take("a");
  std::stop_source stop;
  std::future<outcome> next = c.ask("a", {.stop = stop.get_token()});
  stop.request_stop();  // it is posted, and has not run yet
  EXPECT_EQ(c.engine.end_lease(*lease, world_.io.now()), released::yes);
  world_.run();
  EXPECT_EQ(c.end_of(next).what, kind::granted);
}

TEST_F(hand_over, gives_fences_that_only_grow) {
  client first(world_), second(world_, {.patience = 5s, .burst = 2});
  std::vector<std::pair<client*, std::future<outcome>>> waiting;
  client* holder = &first;
  lease_ptr lease = first.take("a");
  for (int k = 0; k < 30; ++k) {
    client* c = k % 3 == 0 ? &second : &first;
    waiting.emplace_back(c, c->ask("a", {.on = {.ttl = k % 5 == 0 ? 10s : 12s}}));
  }
  for (std::size_t served = 0; served < 30; ++served) {
    (void)holder->give(lease);
    const auto next = std::find_if(waiting.begin(), waiting.end(),
                                   [](const auto& w) { return w.second.valid() && is_ready(w.second); });
    ASSERT_NE(next, waiting.end());
    const lease_ptr then = next->first->taken(next->second);
    ASSERT_GT(then->fence(), lease->fence());
    holder = next->first;
    lease = then;
  }
}

TEST_F(hand_over, reports_the_end_of_one_lease_before_the_next_begins) {
  using what = event::kind;
  client c(world_);
  lease_ptr lease = c.take("a");
  std::future<outcome> next = c.ask("a");
  EXPECT_TRUE(is_handed_over(c, lease, next));
  EXPECT_EQ(c.seen->kinds(), (std::vector{what::acquired, what::waiting, what::released, what::acquired}));
}

}  // namespace
}  // namespace holdfast::core::engine_tests
