#include "holdfast/lease.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <utility>

#include "holdfast/store.hpp"
#include "support/bounds.hpp"
#include "support/memory_service.hpp"
#include "support/recorder.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class lease_test : public testing::Test {
 protected:
  [[nodiscard]] bool is_free(std::string_view name) { return store_.try_acquire(name).has_value(); }
  lease brief(std::string_view name) { return store_.acquire(name, {.ttl = 20ms, .renew = false}); }

  const test::memory_service service_;
  const std::shared_ptr<test::recorder> seen_ = std::make_shared<test::recorder>();
  store store_ = service_.open({.observe = seen_});
};

TEST_F(lease_test, is_harmless_when_default_constructed) {
  lease nothing;
  EXPECT_FALSE(nothing.held());
  EXPECT_EQ(nothing.fence(), 0u);
  EXPECT_EQ(nothing.name(), "");
  EXPECT_EQ(nothing.deadline(), boot_clock::time_point::min());
  EXPECT_EQ(nothing.remaining(), 0ns);
  EXPECT_FALSE(nothing.lost_token().stop_possible());
  EXPECT_FALSE(nothing.renew(10s));
  EXPECT_EQ(nothing.release(), released::yes);
  EXPECT_THROW((void)nothing.async_release(), lock_error);
}

TEST_F(lease_test, reports_its_name_owner_fence_and_deadline) {
  const auto before = boot_clock::now();
  const lease held = store_.acquire("a", {.ttl = 10s});
  EXPECT_TRUE(held.held());
  EXPECT_GT(held.fence(), 0u);
  EXPECT_EQ(held.name(), "a");
  EXPECT_GE(held.deadline(), before + 10s - 102ms);
  EXPECT_LE(held.deadline(), boot_clock::now() + 10s - 102ms);
  EXPECT_GT(held.remaining(), 0s);
  EXPECT_LE(held.remaining(), 10s);
  EXPECT_TRUE(held.lost_token().stop_possible());
}

TEST_F(lease_test, is_move_only) {
  static_assert(!std::is_copy_constructible_v<lease> && std::is_nothrow_move_constructible_v<lease>);
  lease first = store_.acquire("a");
  const std::uint64_t fence = first.fence();
  const lease second = std::move(first);
  EXPECT_FALSE(first.held());  // NOLINT: its moved-from state is defined
  EXPECT_EQ(first.fence(), 0u);
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(second.held());
  EXPECT_EQ(second.fence(), fence);
  EXPECT_FALSE(is_free("a"));
}

TEST_F(lease_test, releases_on_move_assignment) {
  lease one = store_.acquire("a");
  one = store_.acquire("b");
  EXPECT_TRUE(is_free("a"));
  EXPECT_FALSE(is_free("b"));
  one = lease();
  EXPECT_TRUE(is_free("b"));
}

TEST_F(lease_test, survives_self_move) {
  lease one = store_.acquire("a");
  lease& same = one;
  one = std::move(same);
  EXPECT_TRUE(one.held());
}

TEST_F(lease_test, is_released_once_by_repeated_calls) {
  lease one = store_.acquire("a");
  EXPECT_EQ(one.release(), released::yes);
  EXPECT_FALSE(one.held());
  EXPECT_EQ(one.remaining(), 0ns);
  const lease next = store_.acquire("a");
  EXPECT_EQ(one.release(), released::yes);
  EXPECT_TRUE(next.held());
  EXPECT_FALSE(is_free("a")) << "the second release unlocked the lock of another client";
}

TEST_F(lease_test, is_released_by_its_destructor) {
  {
    const lease brief_one = store_.acquire("a");
  }
  EXPECT_TRUE(is_free("a"));
  EXPECT_EQ(service_.server().size(), 0u);
}

TEST_F(lease_test, may_be_used_and_destroyed_on_another_thread) {
  lease here = store_.acquire("a");
  std::thread([there = std::move(here)]() mutable {
    EXPECT_TRUE(there.held());
    EXPECT_TRUE(there.renew(10s));
  }).join();
  EXPECT_TRUE(is_free("a"));
}

TEST_F(lease_test, outlives_the_store_it_came_from) {
  lease survivor;
  {
    store brief_store = open("memory:");
    survivor = brief_store.acquire("a");
  }
  const auto first_deadline = survivor.deadline();
  EXPECT_TRUE(survivor.held());
  EXPECT_TRUE(survivor.renew(20s));
  EXPECT_GT(survivor.deadline(), first_deadline);
  EXPECT_EQ(survivor.release(), released::yes);
}

TEST_F(lease_test, stops_its_token_when_it_is_lost) {
  lease one = brief("a");
  EXPECT_TRUE(test::happens(one.lost_token()));
  EXPECT_FALSE(one.held());
  EXPECT_EQ(one.remaining(), 0ns);
  EXPECT_EQ(one.release(), released::lost);
  EXPECT_EQ(one.release(), released::lost);
  EXPECT_TRUE(seen_->comes(event::kind::lost));
}

TEST_F(lease_test, does_not_stop_its_token_when_it_is_released) {
  std::stop_token token;
  {
    lease one = store_.acquire("a");
    token = one.lost_token();
    EXPECT_EQ(one.release(), released::yes);
  }
  ASSERT_TRUE(seen_->comes(event::kind::released));
  EXPECT_FALSE(token.stop_requested());
}

TEST_F(lease_test, runs_stop_callbacks_of_its_loss_on_the_executor) {
  std::counting_semaphore<> ran(0);
  std::thread::id where;
  const lease one = brief("a");
  const std::stop_callback when_lost(one.lost_token(), [&] {
    where = std::this_thread::get_id();
    EXPECT_FALSE(one.held());
    ran.release();
  });
  ASSERT_TRUE(test::happens(ran));
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(lease_test, is_lost_when_the_store_no_longer_has_it) {
  lease one = store_.acquire("a", {.ttl = 30ms});
  const std::stop_token lost = one.lost_token();
  service_.server().forget_everything();
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(one.renew(10s));
  EXPECT_EQ(one.release(), released::lost);
}

TEST_F(lease_test, does_not_unlock_the_next_holder_after_its_loss) {
  lease late = brief("a");
  EXPECT_TRUE(test::happens(late.lost_token()));
  const lease next = store_.acquire("a");
  EXPECT_GT(next.fence(), late.fence());
  EXPECT_EQ(late.release(), released::lost);
  EXPECT_TRUE(next.held());
  EXPECT_FALSE(is_free("a"));
}

TEST_F(lease_test, is_extended_by_a_renewal) {
  lease one = store_.acquire("a", {.ttl = 10s, .renew = false});
  const auto before = one.deadline();
  EXPECT_TRUE(one.renew(60s));
  EXPECT_GT(one.deadline(), before + 40s);
}

TEST_F(lease_test, keeps_its_deadline_when_a_renewal_gets_no_answer) {
  lease one = store_.acquire("a", {.ttl = 2s, .renew = false});
  const auto before = one.deadline();
  service_.lose_all_requests();
  try {
    (void)one.renew(10s);
    FAIL() << "it did not throw";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unreachable);
    EXPECT_EQ(e.lock(), "a");
  }
  EXPECT_EQ(one.deadline(), before);
  service_.heal();
  EXPECT_TRUE(one.renew(10s));
}

TEST_F(lease_test, survives_an_unanswered_renewal_with_short_patience) {
  store impatient = service_.open({.patience = 20ms});
  lease one = impatient.acquire("a", {.ttl = 10s});
  service_.lose_all_requests();
  EXPECT_THROW((void)one.renew(10s), lock_error);
  service_.heal();
  EXPECT_TRUE(one.held()) << "it waited for the deadline instead of patience";
  EXPECT_TRUE(one.renew(10s));
}

TEST_F(lease_test, reports_an_unknown_release_as_unknown) {
  store silent = service_.open();
  lease one = silent.acquire("a", {.ttl = 30ms});
  service_.lose_all_requests();
  if (one.release() == released::unknown) {  // otherwise it was lost before
    EXPECT_EQ(one.release(), released::unknown);
  }
  EXPECT_NE(one.release(), released::yes);
  service_.heal();
}

TEST_F(lease_test, does_not_block_in_release_beyond_its_deadline) {
  lease one = store_.acquire("a", {.ttl = 30ms});
  service_.lose_all_requests();
  EXPECT_NE(one.release(), released::yes);
  EXPECT_FALSE(one.held());
  service_.heal();
}

TEST_F(lease_test, ends_after_max_hold_despite_renewals) {
  lease one = store_.acquire("a", {.ttl = 20ms, .max_hold = 60ms});
  EXPECT_TRUE(test::happens(one.lost_token()));
  EXPECT_EQ(one.release(), released::lost);
}

}  // namespace
}  // namespace holdfast
