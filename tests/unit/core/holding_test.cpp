#include "core/holding.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "support/threads.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

const instant holding_start{1h};

std::shared_ptr<holding> holding_until(instant deadline = holding_start + 10s, std::uint64_t fences = 3) {
  return std::make_shared<holding>("a", terms{.ttl = 10s}, storage::owner_id{}, nullptr,
                                   storage::grant{100, fences, deadline}, holding_start);
}

/// A holding with a lease. They own each other until the destructor finishes the holding.
class held_once {
 public:
  explicit held_once(instant deadline = holding_start + 10s)
      : of(holding_until(deadline)), lease(holding::new_lease(of, holding_start)) {}
  held_once(const held_once&) = delete;
  held_once& operator=(const held_once&) = delete;
  ~held_once() { (void)of->finish(); }
  const std::shared_ptr<holding> of;
  const std::shared_ptr<lease_state> lease;
};

TEST(holding, gives_each_lease_the_next_fence_of_its_block) {
  const auto h = holding_until();
  EXPECT_EQ(holding::new_lease(h, holding_start)->fence(), 100u);
  EXPECT_EQ(holding::new_lease(h, holding_start + 1s)->fence(), 101u);
  const auto third = holding::new_lease(h, holding_start + 2s);
  EXPECT_EQ(third->fence(), 102u);
  EXPECT_EQ(third->began(), holding_start + 2s);
  EXPECT_EQ(h->began(), holding_start);
  EXPECT_EQ(h->lease_count(), 3u);
  EXPECT_FALSE(holding::new_lease(h, holding_start)) << "the block is used up";
  (void)h->finish();
}

TEST(holding, returns_its_last_lease_once_and_gives_no_more) {
  const auto h = holding_until();
  (void)holding::new_lease(h, holding_start);
  const auto last = holding::new_lease(h, holding_start);
  EXPECT_FALSE(h->finished());
  EXPECT_EQ(h->finish(), last);
  EXPECT_TRUE(h->finished());
  EXPECT_FALSE(h->finish());
  EXPECT_FALSE(holding::new_lease(h, holding_start));
}

TEST(holding, frees_itself_once_it_is_finished) {
  std::weak_ptr<holding> watched;
  {
    const auto h = holding_until();
    watched = h;
    (void)holding::new_lease(h, holding_start);
    (void)h->finish();
  }
  EXPECT_TRUE(watched.expired());
}

TEST(holding, is_valid_before_its_deadline_and_not_at_it) {
  const auto h = holding_until(holding_start + 1s);
  EXPECT_TRUE(h->valid(holding_start + 1s - 1ns));
  EXPECT_FALSE(h->valid(holding_start + 1s));
}

TEST(holding, is_extended_only_while_it_is_not_over) {
  const auto h = holding_until(holding_start + 1s);
  EXPECT_TRUE(h->extend(holding_start + 2s, holding_start + 1s - 1ns));
  EXPECT_EQ(h->deadline(), holding_start + 2s);
  EXPECT_FALSE(h->extend(holding_start + 9s, holding_start + 2s));
}

TEST(holding, stays_over_once_it_was_seen_over) {
  const auto h = holding_until(holding_start + 1s);
  EXPECT_FALSE(h->valid(holding_start + 1s));
  EXPECT_FALSE(h->extend(holding_start + 9s, holding_start))
      << "the clock was read before, the renewal was answered after";
  EXPECT_FALSE(h->valid(holding_start));
}

TEST(holding, is_never_shortened) {
  const auto h = holding_until(holding_start + 5s);
  EXPECT_TRUE(h->extend(holding_start + 4s, holding_start));
  EXPECT_EQ(h->deadline(), holding_start + 5s);
}

TEST(holding, without_a_ttl_is_valid_forever) {
  EXPECT_TRUE(holding_until(runtime::never)->valid(holding_start + 24h * 10'000));
}

TEST(holding, must_end_after_its_max_hold) {
  const auto bounded = std::make_shared<holding>("a", terms{.ttl = 1s, .max_hold = 3s}, storage::owner_id{}, nullptr,
                                                 storage::grant{}, holding_start);
  EXPECT_EQ(bounded->must_end(), holding_start + 3s);
  EXPECT_EQ(holding_until()->must_end(), runtime::never);
}

TEST(terms, pass_on_to_equal_terms_that_are_renewed_without_end) {
  const terms usual{.ttl = 10s};
  EXPECT_TRUE(usual.pass_on_to(usual));
  const terms fixed{.ttl = 10s, .renew = false};
  EXPECT_FALSE(fixed.pass_on_to(fixed));
  const terms bounded{.ttl = 10s, .max_hold = 20s};
  EXPECT_FALSE(bounded.pass_on_to(bounded));
  EXPECT_FALSE(usual.pass_on_to(terms{.ttl = 11s}));
  const terms labelled{.ttl = 10s, .label = "x"};
  EXPECT_FALSE(usual.pass_on_to(labelled));
}

TEST(lease_state, ends_once_and_the_first_end_counts) {
  const held_once released, lost;
  EXPECT_TRUE(released.lease->end(lease_state::phase::released));
  EXPECT_FALSE(released.lease->end(lease_state::phase::lost));
  EXPECT_EQ(released.lease->state(), lease_state::phase::released);
  EXPECT_TRUE(lost.lease->end(lease_state::phase::lost));
  EXPECT_FALSE(lost.lease->end(lease_state::phase::released));
  EXPECT_EQ(lost.lease->state(), lease_state::phase::lost);
}

TEST(lease_state, is_held_until_it_is_released_or_lost_or_over) {
  const held_once released, lost, over(holding_start + 1s);
  EXPECT_TRUE(released.lease->held(holding_start));
  (void)released.lease->end(lease_state::phase::released);
  (void)lost.lease->end(lease_state::phase::lost);
  EXPECT_FALSE(released.lease->held(holding_start));
  EXPECT_FALSE(lost.lease->held(holding_start));
  EXPECT_TRUE(over.lease->held(holding_start));
  EXPECT_FALSE(over.lease->held(holding_start + 1s));
  EXPECT_FALSE(over.lease->held(holding_start)) << "once false, it stays false";
}

TEST(lease_state, stops_its_token_when_the_loss_is_announced) {
  const held_once one;
  const std::stop_token token = one.lease->lost_token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  one.lease->mark_lost()->request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(one.lease->lost_token().stop_requested());
}

TEST(lease_state, creates_a_stopped_token_after_the_loss) {
  const held_once one;
  EXPECT_FALSE(one.lease->mark_lost()) << "there is no token to trigger";
  EXPECT_TRUE(one.lease->lost_token().stop_requested());
}

/// A renewal is answered and a holder checks its lease while the deadline passes. If the holder saw it pass, the
/// renewal must be refused.
TEST(lease_state, never_comes_back_under_concurrent_renewals_and_checks) {
  for (int round = 0; round < 100; ++round) {
    const held_once one(holding_start + 2ns);
    std::atomic<std::int64_t> ticks{0};
    std::atomic<int> revived{0};
    std::atomic<bool> seen_over{false};
    {
      test::threads all;
      all.add([&] {  // the renewer
        for (int k = 0; true; ++k) {
          const bool was_over = seen_over;
          const instant now = holding_start + std::chrono::nanoseconds(ticks.load());
          if (!one.of->extend(now + 2ns, now)) return;
          if (was_over) ++revived;
          ++ticks;
          if (k % 64 == 0) std::this_thread::yield();
        }
      });
      for (int looker = 0; looker < 2; ++looker) {
        all.add([&] {
          bool over = false;
          for (int after = 0; after < 50;) {
            const instant now = holding_start + std::chrono::nanoseconds(++ticks);
            const bool held = one.lease->held(now);
            if (held && over) ++revived;
            if (!held) over = seen_over = true;
            if (over) ++after;
          }
        });
      }
    }
    ASSERT_EQ(revived, 0);
    ASSERT_FALSE(one.lease->held(holding_start));
  }
}

}  // namespace
}  // namespace holdfast::core
