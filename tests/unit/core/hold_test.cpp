#include "core/hold.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "support/threads.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

const instant hold_start{1h};

std::shared_ptr<hold> hold_until(instant deadline = hold_start + 10s, std::uint64_t fences = 3) {
  return std::make_shared<hold>("a", terms{.ttl = 10s}, storage::owner_id{}, nullptr,
                                storage::grant{100, fences, deadline}, hold_start);
}

/// A hold with a tenant, cut loose at the end: they own one another until then.
class seated {
 public:
  explicit seated(instant deadline = hold_start + 10s) : of(hold_until(deadline)), tenant(hold::seat(of, hold_start)) {}
  seated(const seated&) = delete;
  seated& operator=(const seated&) = delete;
  ~seated() { (void)of->finish(); }
  const std::shared_ptr<hold> of;
  const std::shared_ptr<tenancy> tenant;
};

TEST(hold, gives_each_tenancy_the_next_fence_of_its_block) {
  const auto h = hold_until();
  EXPECT_EQ(hold::seat(h, hold_start)->fence(), 100u);
  EXPECT_EQ(hold::seat(h, hold_start + 1s)->fence(), 101u);
  const auto third = hold::seat(h, hold_start + 2s);
  EXPECT_EQ(third->fence(), 102u);
  EXPECT_EQ(third->began(), hold_start + 2s);
  EXPECT_EQ(h->began(), hold_start);
  EXPECT_EQ(h->seated(), 3u);
  EXPECT_FALSE(hold::seat(h, hold_start)) << "the block is used up";
  (void)h->finish();
}

TEST(hold, gives_its_last_tenant_to_one_caller_only_and_seats_nobody_after) {
  const auto h = hold_until();
  (void)hold::seat(h, hold_start);
  const auto last = hold::seat(h, hold_start);
  EXPECT_FALSE(h->finished());
  EXPECT_EQ(h->finish(), last);
  EXPECT_TRUE(h->finished());
  EXPECT_FALSE(h->finish());
  EXPECT_FALSE(hold::seat(h, hold_start));
}

TEST(hold, frees_itself_once_it_is_finished) {
  std::weak_ptr<hold> watched;
  {
    const auto h = hold_until();
    watched = h;
    (void)hold::seat(h, hold_start);
    (void)h->finish();
  }
  EXPECT_TRUE(watched.expired());
}

TEST(hold, is_valid_before_its_deadline_and_not_at_it) {
  const auto h = hold_until(hold_start + 1s);
  EXPECT_TRUE(h->valid(hold_start + 1s - 1ns));
  EXPECT_FALSE(h->valid(hold_start + 1s));
}

TEST(hold, is_extended_only_while_it_is_not_over) {
  const auto h = hold_until(hold_start + 1s);
  EXPECT_TRUE(h->extend(hold_start + 2s, hold_start + 1s - 1ns));
  EXPECT_EQ(h->deadline(), hold_start + 2s);
  EXPECT_FALSE(h->extend(hold_start + 9s, hold_start + 2s));
}

TEST(hold, is_over_for_good_once_somebody_saw_it_over) {
  const auto h = hold_until(hold_start + 1s);
  EXPECT_FALSE(h->valid(hold_start + 1s));
  EXPECT_FALSE(h->extend(hold_start + 9s, hold_start)) << "a clock read before, a renewal that landed after";
  EXPECT_FALSE(h->valid(hold_start));
}

TEST(hold, is_never_shortened) {
  const auto h = hold_until(hold_start + 5s);
  EXPECT_TRUE(h->extend(hold_start + 4s, hold_start));
  EXPECT_EQ(h->deadline(), hold_start + 5s);
}

TEST(hold, without_a_ttl_is_valid_for_ever) {
  EXPECT_TRUE(hold_until(runtime::never)->valid(hold_start + 24h * 10'000));
}

TEST(hold, must_end_when_its_max_hold_is_over) {
  const auto bounded = std::make_shared<hold>("a", terms{.ttl = 1s, .max_hold = 3s}, storage::owner_id{}, nullptr,
                                              storage::grant{}, hold_start);
  EXPECT_EQ(bounded->must_end(), hold_start + 3s);
  EXPECT_EQ(hold_until()->must_end(), runtime::never);
}

TEST(terms, pass_on_to_equal_ones_that_are_renewed_without_end) {
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

TEST(tenancy, ends_once_and_the_first_end_counts) {
  const seated released, lost;
  EXPECT_TRUE(released.tenant->end(tenancy::phase::released));
  EXPECT_FALSE(released.tenant->end(tenancy::phase::lost));
  EXPECT_EQ(released.tenant->state(), tenancy::phase::released);
  EXPECT_TRUE(lost.tenant->end(tenancy::phase::lost));
  EXPECT_FALSE(lost.tenant->end(tenancy::phase::released));
  EXPECT_EQ(lost.tenant->state(), tenancy::phase::lost);
}

TEST(tenancy, is_held_until_it_is_released_or_lost_or_over) {
  const seated released, lost, over(hold_start + 1s);
  EXPECT_TRUE(released.tenant->held(hold_start));
  (void)released.tenant->end(tenancy::phase::released);
  (void)lost.tenant->end(tenancy::phase::lost);
  EXPECT_FALSE(released.tenant->held(hold_start));
  EXPECT_FALSE(lost.tenant->held(hold_start));
  EXPECT_TRUE(over.tenant->held(hold_start));
  EXPECT_FALSE(over.tenant->held(hold_start + 1s));
  EXPECT_FALSE(over.tenant->held(hold_start)) << "once false, false for ever";
}

TEST(tenancy, stops_its_token_when_the_loss_is_announced) {
  const seated one;
  const std::stop_token token = one.tenant->lost_token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  one.tenant->mark_loss()->request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(one.tenant->lost_token().stop_requested());
}

TEST(tenancy, gives_a_stopped_token_to_whoever_asks_after_the_loss) {
  const seated one;
  EXPECT_FALSE(one.tenant->mark_loss()) << "nobody has to be told";
  EXPECT_TRUE(one.tenant->lost_token().stop_requested());
}

/// A renewal that lands and a holder that looks, at the same time as the deadline passes: what the holder saw over
/// stays over, and the keeper hears that it came too late.
TEST(tenancy, that_was_seen_over_never_comes_back_however_renewals_and_looks_fall_together) {
  for (int round = 0; round < 100; ++round) {
    const seated one(hold_start + 2ns);
    std::atomic<std::int64_t> ticks{0};
    std::atomic<int> revived{0};
    std::atomic<bool> seen_over{false};
    {
      test::threads all;
      all.add([&] {  // the keeper
        for (int k = 0; true; ++k) {
          const bool was_over = seen_over;
          const instant now = hold_start + std::chrono::nanoseconds(ticks.load());
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
            const instant now = hold_start + std::chrono::nanoseconds(++ticks);
            const bool held = one.tenant->held(now);
            if (held && over) ++revived;
            if (!held) over = seen_over = true;
            if (over) ++after;
          }
        });
      }
    }
    ASSERT_EQ(revived, 0);
    ASSERT_FALSE(one.tenant->held(hold_start));
  }
}

}  // namespace
}  // namespace holdfast::core
