#include "core/gate.hpp"

#include <gtest/gtest.h>

#include "runtime/inline_io.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

const terms default_terms{.ttl = 10s};
const instant gate_time{1h};

runtime::task<runtime::wake> look(runtime::io& i, runtime::signal& s) {
  const runtime::wake why = co_await wait(i, s, limit(instant()));
  co_return why;
}

/// Whether the visitor was called; it can be asked once.
bool is_called(visitor& v) {
  runtime::inline_io here;
  return run_inline(look(here, v.called)) == runtime::wake::signalled;
}

std::shared_ptr<hold> hold_with(const terms& on, std::uint64_t fences = 8) {
  return std::make_shared<hold>("a", on, storage::owner_id{}, nullptr, storage::grant{100, fences, gate_time + 10s},
                                gate_time);
}

class gate_test : public testing::Test {
 protected:
  gate gate_;
  visitor first_{default_terms}, second_{default_terms}, third_{default_terms};
};

TEST_F(gate_test, lets_the_first_go_to_the_store_and_the_others_wait) {
  EXPECT_EQ(gate_.enter("a", first_, true), gate::entry::head);
  EXPECT_EQ(gate_.enter("a", second_, true), gate::entry::waiting);
  EXPECT_EQ(gate_.enter("a", third_, false), gate::entry::busy);
  EXPECT_EQ(gate_.rooms(), 1u);
}

TEST_F(gate_test, keeps_names_apart) {
  EXPECT_EQ(gate_.enter("a", first_, true), gate::entry::head);
  EXPECT_EQ(gate_.enter("b", second_, true), gate::entry::head);
  gate_.next("a");
  EXPECT_EQ(gate_.rooms(), 1u);
}

TEST_F(gate_test, calls_the_first_in_line_when_the_room_is_left) {
  visitor head(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::waiting);
  ASSERT_EQ(gate_.enter("a", second_, true), gate::entry::waiting);
  gate_.next("a");
  EXPECT_TRUE(is_called(first_));
  EXPECT_FALSE(first_.given);
  EXPECT_FALSE(first_.failed);
  EXPECT_FALSE(is_called(second_));
  gate_.next("a");
  EXPECT_TRUE(is_called(second_));
}

TEST_F(gate_test, forgets_a_name_that_nobody_wants_any_more) {
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::head);
  gate_.next("a");
  EXPECT_EQ(gate_.rooms(), 0u);
  EXPECT_EQ(gate_.enter("a", second_, true), gate::entry::head);
}

TEST_F(gate_test, passes_over_whoever_has_left_the_line) {
  visitor head(default_terms), last(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  for (visitor* v : {&first_, &second_, &third_, &last}) ASSERT_EQ(gate_.enter("a", *v, true), gate::entry::waiting);
  EXPECT_TRUE(gate_.leave("a", first_));  // the front, the middle and the end
  EXPECT_TRUE(gate_.leave("a", third_));
  EXPECT_TRUE(gate_.leave("a", last));
  gate_.next("a");
  EXPECT_TRUE(is_called(second_));
  EXPECT_FALSE(is_called(first_));
  gate_.next("a");
  EXPECT_EQ(gate_.rooms(), 0u);
}

TEST_F(gate_test, says_so_when_somebody_who_leaves_was_called_in_the_same_instant) {
  visitor head(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::waiting);
  ASSERT_EQ(gate_.enter("a", second_, true), gate::entry::waiting);
  gate_.next("a");
  EXPECT_FALSE(gate_.leave("a", first_));
  gate_.next("a");
  gate_.next("a");
  EXPECT_FALSE(gate_.leave("a", second_)) << "the room is gone";
}

TEST_F(gate_test, passes_the_lock_itself_to_a_caller_who_wants_the_same) {
  visitor head(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::waiting);
  const auto h = hold_with(default_terms);
  EXPECT_TRUE(gate_.pass(h, gate_time));
  EXPECT_TRUE(is_called(first_));
  ASSERT_TRUE(first_.given);
  EXPECT_EQ(first_.given->fence(), 100u);
  EXPECT_FALSE(gate_.pass(h, gate_time)) << "nobody is there";
  EXPECT_EQ(gate_.rooms(), 1u) << "the one it was passed to is in the room";
  (void)h->finish();
}

TEST_F(gate_test, keeps_the_lock_when_the_first_in_line_wants_other_terms) {
  visitor head(default_terms);
  const terms other_ttl{.ttl = 11s}, other_label{.ttl = 10s, .label = "x"};
  const terms fixed{.ttl = 10s, .renew = false}, bounded{.ttl = 10s, .max_hold = 20s};
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  for (const terms& other : {other_ttl, other_label, fixed, bounded}) {
    visitor stranger(other);
    ASSERT_EQ(gate_.enter("a", stranger, true), gate::entry::waiting);
    EXPECT_FALSE(gate_.pass(hold_with(default_terms), gate_time));
    EXPECT_FALSE(gate_.pass(hold_with(fixed), gate_time));
    EXPECT_FALSE(gate_.pass(hold_with(bounded), gate_time));
    EXPECT_FALSE(is_called(stranger));
    EXPECT_TRUE(gate_.leave("a", stranger));
  }
}

TEST_F(gate_test, keeps_the_lock_when_it_is_finished_or_has_no_fence_left) {
  visitor head(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::waiting);
  EXPECT_FALSE(gate_.pass(hold_with(default_terms, 0), gate_time));
  const auto finished = hold_with(default_terms);
  (void)finished->finish();
  EXPECT_FALSE(gate_.pass(finished, gate_time));
  EXPECT_FALSE(is_called(first_));
  EXPECT_TRUE(gate_.leave("a", first_));
}

TEST_F(gate_test, remembers_trouble_until_it_is_over_or_the_name_forgotten) {
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::head);
  EXPECT_FALSE(gate_.trouble_at("a"));
  gate_.trouble("a", storage::failure(errc::unreachable, "silence"));
  ASSERT_TRUE(gate_.trouble_at("a"));
  EXPECT_EQ(gate_.trouble_at("a")->text, "silence");
  EXPECT_FALSE(gate_.trouble_at("b"));
  gate_.calm("a");
  EXPECT_FALSE(gate_.trouble_at("a"));
  gate_.trouble("a", storage::failure(errc::unreachable, "silence"));
  gate_.next("a");
  EXPECT_FALSE(gate_.trouble_at("a"));
}

TEST_F(gate_test, tells_a_failure_to_all_who_wait) {
  visitor head(default_terms);
  ASSERT_EQ(gate_.enter("a", head, true), gate::entry::head);
  ASSERT_EQ(gate_.enter("a", first_, true), gate::entry::waiting);
  ASSERT_EQ(gate_.enter("a", second_, true), gate::entry::waiting);
  gate_.fail("a", storage::failure(errc::denied, "no"));
  for (visitor* v : {&first_, &second_}) {
    EXPECT_TRUE(is_called(*v));
    ASSERT_TRUE(v->failed);
    EXPECT_EQ(v->failed->code, errc::denied);
    EXPECT_FALSE(gate_.leave("a", *v));
  }
  EXPECT_EQ(gate_.enter("a", third_, true), gate::entry::waiting) << "the head is still in the room";
  gate_.next("a");
  EXPECT_TRUE(is_called(third_));
}

}  // namespace
}  // namespace holdfast::core
