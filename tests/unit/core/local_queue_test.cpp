#include "core/local_queue.hpp"

#include <gtest/gtest.h>

#include "runtime/inline_io.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using position = local_queue::position;

const terms default_terms{.ttl = 10s};
const instant queue_time{1h};

runtime::task<runtime::wake> look(runtime::io& i, runtime::signal& s) {
  const runtime::wake why = co_await wait(i, s, limit(instant()));
  co_return why;
}

/// Returns whether the waiter was woken, and resets its signal.
bool is_woken(waiter& v) {
  runtime::inline_io here;
  return run_inline(look(here, v.woken)) == runtime::wake::signalled;
}

std::shared_ptr<holding> holding_with(const terms& on, std::uint64_t fences = 8) {
  return std::make_shared<holding>("a", on, storage::owner_id{}, nullptr, storage::grant{100, fences, queue_time + 10s},
                                   queue_time);
}

class local_queue_test : public testing::Test {
 protected:
  local_queue queue_;
  waiter first_{default_terms}, second_{default_terms}, third_{default_terms};
};

TEST_F(local_queue_test, makes_the_first_caller_head_and_lets_others_wait) {
  EXPECT_EQ(queue_.enter("a", first_, true), position::head);
  EXPECT_EQ(queue_.enter("a", second_, true), position::waiting);
  EXPECT_EQ(queue_.enter("a", third_, false), position::busy);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(local_queue_test, keeps_names_apart) {
  EXPECT_EQ(queue_.enter("a", first_, true), position::head);
  EXPECT_EQ(queue_.enter("b", second_, true), position::head);
  queue_.wake_next("a");
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(local_queue_test, wakes_the_first_waiter_when_the_head_leaves) {
  waiter head(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  ASSERT_EQ(queue_.enter("a", first_, true), position::waiting);
  ASSERT_EQ(queue_.enter("a", second_, true), position::waiting);
  queue_.wake_next("a");
  EXPECT_TRUE(is_woken(first_));
  EXPECT_FALSE(first_.given);
  EXPECT_FALSE(first_.failed);
  EXPECT_FALSE(is_woken(second_));
  queue_.wake_next("a");
  EXPECT_TRUE(is_woken(second_));
}

TEST_F(local_queue_test, forgets_a_name_without_waiters) {
  ASSERT_EQ(queue_.enter("a", first_, true), position::head);
  queue_.wake_next("a");
  EXPECT_EQ(queue_.size(), 0u);
  EXPECT_EQ(queue_.enter("a", second_, true), position::head);
}

TEST_F(local_queue_test, skips_waiters_that_have_left) {
  waiter head(default_terms), last(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  for (waiter* v : {&first_, &second_, &third_, &last}) ASSERT_EQ(queue_.enter("a", *v, true), position::waiting);
  EXPECT_TRUE(queue_.leave("a", first_));  // the front, the middle and the end
  EXPECT_TRUE(queue_.leave("a", third_));
  EXPECT_TRUE(queue_.leave("a", last));
  queue_.wake_next("a");
  EXPECT_TRUE(is_woken(second_));
  EXPECT_FALSE(is_woken(first_));
  queue_.wake_next("a");
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(local_queue_test, tells_a_leaving_waiter_that_it_was_woken) {
  waiter head(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  ASSERT_EQ(queue_.enter("a", first_, true), position::waiting);
  ASSERT_EQ(queue_.enter("a", second_, true), position::waiting);
  queue_.wake_next("a");
  EXPECT_FALSE(queue_.leave("a", first_));
  queue_.wake_next("a");
  queue_.wake_next("a");
  EXPECT_FALSE(queue_.leave("a", second_)) << "the entry has gone";
}

TEST_F(local_queue_test, hands_a_holding_over_on_equal_terms) {
  waiter head(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  ASSERT_EQ(queue_.enter("a", first_, true), position::waiting);
  const auto h = holding_with(default_terms);
  EXPECT_TRUE(queue_.hand_over(h, queue_time));
  EXPECT_TRUE(is_woken(first_));
  ASSERT_TRUE(first_.given);
  EXPECT_EQ(first_.given->fence(), 100u);
  EXPECT_FALSE(queue_.hand_over(h, queue_time)) << "there is no waiter";
  EXPECT_EQ(queue_.size(), 1u) << "its receiver is the head";
  (void)h->finish();
}

TEST_F(local_queue_test, keeps_a_holding_when_the_first_waiter_wants_other_terms) {
  waiter head(default_terms);
  const terms other_ttl{.ttl = 11s}, other_label{.ttl = 10s, .label = "x"};
  const terms fixed{.ttl = 10s, .renew = false}, bounded{.ttl = 10s, .max_hold = 20s};
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  for (const terms& other : {other_ttl, other_label, fixed, bounded}) {
    waiter stranger(other);
    ASSERT_EQ(queue_.enter("a", stranger, true), position::waiting);
    EXPECT_FALSE(queue_.hand_over(holding_with(default_terms), queue_time));
    EXPECT_FALSE(queue_.hand_over(holding_with(fixed), queue_time));
    EXPECT_FALSE(queue_.hand_over(holding_with(bounded), queue_time));
    EXPECT_FALSE(is_woken(stranger));
    EXPECT_TRUE(queue_.leave("a", stranger));
  }
}

TEST_F(local_queue_test, hands_over_no_holding_that_is_finished_or_out_of_fences) {
  waiter head(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  ASSERT_EQ(queue_.enter("a", first_, true), position::waiting);
  EXPECT_FALSE(queue_.hand_over(holding_with(default_terms, 0), queue_time));
  const auto finished = holding_with(default_terms);
  (void)finished->finish();
  EXPECT_FALSE(queue_.hand_over(finished, queue_time));
  EXPECT_FALSE(is_woken(first_));
  EXPECT_TRUE(queue_.leave("a", first_));
}

TEST_F(local_queue_test, remembers_a_failure_until_recovery_or_the_next_head) {
  ASSERT_EQ(queue_.enter("a", first_, true), position::head);
  EXPECT_FALSE(queue_.failure_at("a"));
  queue_.set_failure("a", storage::failure(errc::unreachable, "silence"));
  ASSERT_TRUE(queue_.failure_at("a"));
  EXPECT_EQ(queue_.failure_at("a")->text, "silence");
  EXPECT_FALSE(queue_.failure_at("b"));
  queue_.recovered("a");
  EXPECT_FALSE(queue_.failure_at("a"));
  queue_.set_failure("a", storage::failure(errc::unreachable, "silence"));
  queue_.wake_next("a");
  EXPECT_FALSE(queue_.failure_at("a"));
}

TEST_F(local_queue_test, wakes_all_waiters_with_a_failure) {
  waiter head(default_terms);
  ASSERT_EQ(queue_.enter("a", head, true), position::head);
  ASSERT_EQ(queue_.enter("a", first_, true), position::waiting);
  ASSERT_EQ(queue_.enter("a", second_, true), position::waiting);
  queue_.fail_waiters("a", storage::failure(errc::denied, "no"));
  for (waiter* v : {&first_, &second_}) {
    EXPECT_TRUE(is_woken(*v));
    ASSERT_TRUE(v->failed);
    EXPECT_EQ(v->failed->code, errc::denied);
    EXPECT_FALSE(queue_.leave("a", *v));
  }
  EXPECT_EQ(queue_.enter("a", third_, true), position::waiting) << "there is still a head";
  queue_.wake_next("a");
  EXPECT_TRUE(is_woken(third_));
}

}  // namespace
}  // namespace holdfast::core
