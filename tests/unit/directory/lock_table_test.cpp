#include "directory/lock_table.hpp"

#include <unistd.h>

#include "unit/directory/lock_tables.hpp"

namespace holdfast::directory {
namespace {

TEST_F(lock_tables, let_the_first_waiter_watch_all_holders) {
  entry one = claim_of(share::reader()), two = claim_of(share::reader()), writer = claim_of(share()),
        behind = claim_of(share::reader());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, two));
  EXPECT_EQ(watched_by(2, writer), (std::vector<session_id>{session(0), session(1)}));
  EXPECT_EQ(watched_by(3, behind), std::vector<session_id>{session(2)});
  EXPECT_EQ(watched_by(2, writer), (std::vector<session_id>{session(0), session(1)})) << "polled again";
  EXPECT_EQ(poll(2, writer).ahead.front().pid, ::getpid());
}

TEST_F(lock_tables, bound_the_number_of_watched_processes) {
  constexpr std::size_t many = lock_table::most_watched + 2;
  std::deque<entry> readers;
  for (std::size_t n = 4; n < 4 + many; ++n) {
    open();
    EXPECT_TRUE(gets(n, readers.emplace_back(claim_of(share::reader()))));
  }
  entry writer = claim_of(share());
  const lock_table::poll_result is = poll(0, writer);
  ASSERT_EQ(is.ahead.size(), many);
  EXPECT_NE(is.ahead[lock_table::most_watched - 1].pid, 0);
  EXPECT_EQ(is.ahead[lock_table::most_watched].pid, 0);
  EXPECT_NE(is.ahead[lock_table::most_watched].session, 0);
}

TEST_F(lock_tables, give_what_a_dead_session_held_to_the_waiters) {
  entry one = claim_of(share::permits(1, 4)), dying = claim_of(share::permits(2, 4)),
        more = claim_of(share::permits(1, 4)), waiting = claim_of(share::permits(3, 4));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  EXPECT_TRUE(gets(1, more));
  EXPECT_FALSE(gets(2, waiting));
  kill(1);
  EXPECT_TRUE(gets(2, waiting));
  EXPECT_TRUE(notifications_.empty()) << "the claim gets its fence as the result";
  EXPECT_TRUE(releases(0, one));
  EXPECT_TRUE(releases(2, waiting));
  EXPECT_EQ(rows(), 0);
}

TEST_F(lock_tables, notice_a_dead_holder_in_one_poll) {
  entry one = claim_of(share::reader()), dying = claim_of(share::reader()), writer = one_poll_of(share());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  kill(1);
  EXPECT_FALSE(gets(2, writer));
  EXPECT_TRUE(releases(0, one));
  EXPECT_TRUE(gets(2, writer));
}

TEST_F(lock_tables, remove_a_dead_waiter_from_the_middle_of_the_queue) {
  entry held = claim_of(share()), first = claim_of(share()), dying = claim_of(share()),
        last = claim_of(share::reader());
  EXPECT_TRUE(gets(0, held));
  EXPECT_FALSE(gets(1, first));
  EXPECT_FALSE(gets(2, dying));
  EXPECT_EQ(watched_by(3, last), std::vector<session_id>{session(2)});
  kill(2);
  EXPECT_EQ(watched_by(3, last), std::vector<session_id>{session(1)});
  EXPECT_EQ(rows(), 4);
}

TEST_F(lock_tables, pass_over_an_admitted_claim_whose_process_has_ended) {
  entry held = claim_of(share()), dying = claim_of(share()), next = claim_of(share());
  EXPECT_TRUE(gets(0, held));
  EXPECT_FALSE(gets(1, dying));
  EXPECT_FALSE(gets(2, next));
  EXPECT_TRUE(releases(0, held));
  ASSERT_EQ(notifications_.size(), 1u);
  const session_id ended = notifications_.front().session;
  kill(1);
  notifications_.clear();
  at(0).pass_over(ended, "a", soon(), notifications_);
  EXPECT_EQ(sent(), (messages{{next.owner, true}}));
}

TEST_F(lock_tables, clean_up_after_dead_sessions_and_keep_the_others) {
  entry one = claim_of(share::permits(1, 3)), dying = claim_of(share::permits(2, 3)),
        all = one_poll_of(share::permits(3, 3));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  kill(1);
  const client& next = open();
  EXPECT_EQ(next.ended.size(), 1u);
  EXPECT_EQ(rows(), 2);
  EXPECT_FALSE(gets(2, all));
  EXPECT_TRUE(releases(0, one));
  EXPECT_TRUE(gets(2, all));
}

TEST_F(lock_tables, refuse_a_claim_that_disagrees_on_the_number_of_permits) {
  entry three = claim_of(share::permits(1, 3)), four = claim_of(share::permits(1, 4)), lock = claim_of(share());
  EXPECT_TRUE(gets(0, three));
  const auto refusal = [&](entry& e) {
    try {
      (void)poll(1, e);
    } catch (const storage::failure& why) {
      return why.text;
    }
    return std::string("none");
  };
  EXPECT_EQ(refusal(four), "the name is in use as a semaphore of 3, not as a semaphore of 4");
  EXPECT_EQ(refusal(lock), "the name is in use as a semaphore of 3, not as a lock");
  kill(0);
  EXPECT_EQ(refusal(four), "none");
  EXPECT_EQ(refusal(lock), "the name is in use as a semaphore of 4, not as a lock");
}

TEST_F(lock_tables, do_not_resize_a_lock) {
  entry lock = claim_of(share());
  EXPECT_TRUE(gets(0, lock));
  EXPECT_THROW(at(1).resize("a", 2, soon(), notifications_), storage::failure);
  kill(0);
  EXPECT_NO_THROW(at(1).resize("a", 2, soon(), notifications_));
}

TEST_F(lock_tables, give_what_a_leaving_session_held_to_the_waiters) {
  entry one = claim_of(share::permits(1, 2)), two = claim_of(share::permits(1, 2)),
        both = claim_of(share::permits(2, 2));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(0, two));
  EXPECT_FALSE(gets(1, both));
  const std::vector<notification> all = at(0).leave();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().text.owner, both.owner);
}

}  // namespace
}  // namespace holdfast::directory
