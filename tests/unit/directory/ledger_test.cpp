#include "directory/ledger.hpp"

#include <unistd.h>

#include "unit/directory/ledgers.hpp"

namespace holdfast::directory {
namespace {

TEST_F(ledgers, let_the_first_in_line_watch_all_who_hold_and_the_others_the_one_before) {
  entry one = wanting(share::reader()), two = wanting(share::reader()), writer = wanting(share()),
        behind = wanting(share::reader());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, two));
  EXPECT_EQ(watched_by(2, writer), (std::vector<session_id>{session(0), session(1)}));
  EXPECT_EQ(watched_by(3, behind), std::vector<session_id>{session(2)});
  EXPECT_EQ(watched_by(2, writer), (std::vector<session_id>{session(0), session(1)})) << "asked again";
  EXPECT_EQ(ask(2, writer).ahead.front().pid, ::getpid());
}

TEST_F(ledgers, watch_no_more_processes_than_is_sane) {
  constexpr std::size_t many = ledger::most_watched + 2;
  std::deque<entry> readers;
  for (std::size_t n = 4; n < 4 + many; ++n) {
    open();
    EXPECT_TRUE(gets(n, readers.emplace_back(wanting(share::reader()))));
  }
  entry writer = wanting(share());
  const ledger::found is = ask(0, writer);
  ASSERT_EQ(is.ahead.size(), many);
  EXPECT_NE(is.ahead[ledger::most_watched - 1].pid, 0);
  EXPECT_EQ(is.ahead[ledger::most_watched].pid, 0);
  EXPECT_NE(is.ahead[ledger::most_watched].session, 0);
}

TEST_F(ledgers, give_what_a_dead_session_held_to_those_who_wait) {
  entry one = wanting(share::permits(1, 4)), dying = wanting(share::permits(2, 4)),
        more = wanting(share::permits(1, 4)), waiting = wanting(share::permits(3, 4));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  EXPECT_TRUE(gets(1, more));
  EXPECT_FALSE(gets(2, waiting));
  kill(1);
  EXPECT_TRUE(gets(2, waiting));
  EXPECT_TRUE(told_.empty()) << "it hears it as the answer";
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_TRUE(gives_back(2, waiting));
  EXPECT_EQ(rows(), 0);
}

TEST_F(ledgers, let_one_look_see_that_a_holder_is_dead) {
  entry one = wanting(share::reader()), dying = wanting(share::reader()), writer = a_look(share());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  kill(1);
  EXPECT_FALSE(gets(2, writer));
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_TRUE(gets(2, writer));
}

TEST_F(ledgers, take_a_dead_waiter_out_of_the_middle_of_the_queue) {
  entry held = wanting(share()), first = wanting(share()), dying = wanting(share()), last = wanting(share::reader());
  EXPECT_TRUE(gets(0, held));
  EXPECT_FALSE(gets(1, first));
  EXPECT_FALSE(gets(2, dying));
  EXPECT_EQ(watched_by(3, last), std::vector<session_id>{session(2)});
  kill(2);
  EXPECT_EQ(watched_by(3, last), std::vector<session_id>{session(1)});
  EXPECT_EQ(rows(), 4);
}

TEST_F(ledgers, pass_over_one_who_was_let_in_and_is_gone) {
  entry held = wanting(share()), dying = wanting(share()), next = wanting(share());
  EXPECT_TRUE(gets(0, held));
  EXPECT_FALSE(gets(1, dying));
  EXPECT_FALSE(gets(2, next));
  EXPECT_TRUE(gives_back(0, held));
  ASSERT_EQ(told_.size(), 1u);
  const session_id gone = told_.front().session;
  kill(1);
  told_.clear();
  at(0).pass_over(gone, "a", soon(), told_);
  EXPECT_EQ(told(), (heard{{next.owner, true}}));
}

TEST_F(ledgers, tidy_up_after_dead_sessions_without_giving_away_what_others_hold) {
  entry one = wanting(share::permits(1, 3)), dying = wanting(share::permits(2, 3)), all = a_look(share::permits(3, 3));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, dying));
  kill(1);
  const client& next = open();
  EXPECT_EQ(next.gone.size(), 1u);
  EXPECT_EQ(rows(), 2);
  EXPECT_FALSE(gets(2, all));
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_TRUE(gets(2, all));
}

TEST_F(ledgers, refuse_whoever_disagrees_on_the_whole_with_those_who_live) {
  entry three = wanting(share::permits(1, 3)), four = wanting(share::permits(1, 4)), lock = wanting(share());
  EXPECT_TRUE(gets(0, three));
  const auto refusal = [&](entry& e) {
    try {
      (void)ask(1, e);
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

TEST_F(ledgers, do_not_resize_a_lock) {
  entry lock = wanting(share());
  EXPECT_TRUE(gets(0, lock));
  EXPECT_THROW(at(1).resize("a", 2, soon(), told_), storage::failure);
  kill(0);
  EXPECT_NO_THROW(at(1).resize("a", 2, soon(), told_));
}

TEST_F(ledgers, give_to_others_what_a_session_leaves_behind) {
  entry one = wanting(share::permits(1, 2)), two = wanting(share::permits(1, 2)), both = wanting(share::permits(2, 2));
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(0, two));
  EXPECT_FALSE(gets(1, both));
  const std::vector<summons> all = at(0).leave();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().text.owner, both.owner);
}

}  // namespace
}  // namespace holdfast::directory
