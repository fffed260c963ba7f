#include "quorum/vote_round.hpp"

#include <gtest/gtest.h>

#include "runtime/inline_io.hpp"

namespace holdfast::quorum {
namespace {

using storage::answer;
using storage::done;

tally of(std::size_t voters, std::size_t yes, std::size_t no, std::size_t none) {
  return {.voters = voters, .yes = yes, .no = no, .none = none};
}

TEST(majority, is_more_than_half) {
  EXPECT_EQ(majority_of(1), 1u);
  EXPECT_EQ(majority_of(2), 2u);
  EXPECT_EQ(majority_of(3), 2u);
  EXPECT_EQ(majority_of(4), 3u);
  EXPECT_EQ(majority_of(5), 3u);
}

TEST(majority, shares_a_voter_with_every_other_majority) {
  for (std::size_t n = 1; n < 33; ++n) EXPECT_GT(2 * majority_of(n), n);
}

TEST(election, is_won_as_soon_as_a_majority_says_yes) {
  EXPECT_EQ(of_election(of(5, 2, 0, 0)), verdict::open);
  EXPECT_EQ(of_election(of(5, 3, 0, 0)), verdict::yes);
  EXPECT_EQ(of_election(of(5, 3, 1, 1)), verdict::yes);
}

TEST(election, is_lost_once_a_majority_is_impossible_but_has_answered) {
  EXPECT_EQ(of_election(of(5, 0, 2, 0)), verdict::open);
  EXPECT_EQ(of_election(of(5, 0, 3, 0)), verdict::no);
  EXPECT_EQ(of_election(of(5, 2, 2, 1)), verdict::no);
  EXPECT_EQ(of_election(of(3, 1, 1, 1)), verdict::no);
}

TEST(election, waits_for_more_answers_when_too_few_have_arrived) {
  EXPECT_EQ(of_election(of(5, 0, 1, 2)), verdict::open) << "the last two may say no";
  EXPECT_EQ(of_election(of(5, 0, 1, 3)), verdict::unknown);
}

TEST(election, is_unknown_when_a_majority_cannot_answer) {
  EXPECT_EQ(of_election(of(3, 0, 0, 2)), verdict::unknown);
  EXPECT_EQ(of_election(of(3, 1, 0, 2)), verdict::unknown);
  EXPECT_EQ(of_election(of(5, 2, 0, 3)), verdict::unknown);
}

TEST(election, of_an_even_number_is_not_won_by_half) {
  EXPECT_EQ(of_election(of(4, 2, 0, 0)), verdict::open);
  EXPECT_EQ(of_election(of(4, 2, 2, 0)), verdict::no);
  EXPECT_EQ(of_election(of(4, 2, 0, 2)), verdict::unknown);
  EXPECT_EQ(of_election(of(4, 3, 0, 0)), verdict::yes);
  EXPECT_EQ(of_election(of(2, 1, 1, 0)), verdict::no);
}

TEST(election, with_a_margin_needs_that_many_more_votes) {
  const auto needs_one_more = [](std::size_t voters, std::size_t yes, std::size_t no, std::size_t none) {
    return of_election({.voters = voters, .yes = yes, .no = no, .none = none, .min_margin = 1});
  };
  EXPECT_EQ(needs_one_more(5, 3, 0, 0), verdict::open);
  EXPECT_EQ(needs_one_more(5, 4, 0, 0), verdict::yes);
  EXPECT_EQ(needs_one_more(5, 3, 0, 1), verdict::open);
  EXPECT_EQ(needs_one_more(5, 3, 0, 2), verdict::unknown) << "too few live";
  EXPECT_EQ(needs_one_more(3, 2, 1, 0), verdict::no) << "another has the vote that is missing";
  EXPECT_EQ(needs_one_more(3, 0, 2, 1), verdict::no) << "another has a majority";
  EXPECT_EQ(needs_one_more(3, 0, 1, 1), verdict::open);
}

TEST(step, is_done_when_a_majority_did_it) {
  EXPECT_EQ(of_step(of(3, 1, 1, 0)), verdict::open);
  EXPECT_EQ(of_step(of(3, 2, 0, 0)), verdict::yes);
  EXPECT_EQ(of_step(of(4, 2, 0, 0)), verdict::open);
}

TEST(step, is_no_only_if_no_majority_can_have_done_it) {
  EXPECT_EQ(of_step(of(3, 0, 1, 1)), verdict::open);
  EXPECT_EQ(of_step(of(3, 0, 2, 0)), verdict::no);
  EXPECT_EQ(of_step(of(5, 2, 1, 2)), verdict::unknown) << "those that are silent may have done it";
  EXPECT_EQ(of_step(of(4, 2, 2, 0)), verdict::no);
}

TEST(step, is_unknown_once_no_other_verdict_is_possible) {
  EXPECT_EQ(of_step(of(3, 0, 0, 2)), verdict::unknown);
  EXPECT_EQ(of_step(of(3, 0, 1, 1)), verdict::open);
  EXPECT_EQ(of_step(of(3, 1, 1, 1)), verdict::unknown);
}

TEST(any_tally, has_a_verdict_when_all_have_answered) {
  for (std::size_t n = 1; n < 8; ++n) {
    for (std::size_t yes = 0; yes <= n; ++yes) {
      for (std::size_t no = 0; yes + no <= n; ++no) {
        EXPECT_NE(of_election(of(n, yes, no, n - yes - no)), verdict::open);
        EXPECT_NE(of_step(of(n, yes, no, n - yes - no)), verdict::open);
      }
    }
  }
}

TEST(any_tally, never_changes_an_early_verdict) {
  const auto holds = [](verdict (*rule)(const tally&), const tally& early, const tally& late) {
    return rule(early) == verdict::open || rule(early) == rule(late);
  };
  for (std::size_t yes = 0; yes <= 5; ++yes) {
    for (std::size_t no = 0; yes + no <= 5; ++no) {
      for (std::size_t none = 0; yes + no + none < 5; ++none) {
        for (const tally& more : {of(5, yes + 1, no, none), of(5, yes, no + 1, none), of(5, yes, no, none + 1)}) {
          EXPECT_TRUE(holds(of_election, of(5, yes, no, none), more)) << yes << no << none;
          EXPECT_TRUE(holds(of_step, of(5, yes, no, none), more)) << yes << no << none;
        }
      }
    }
  }
}

TEST(vote_round, settles_when_the_rule_can_tell) {
  runtime::inline_io here;
  vote_round<done> all(3);
  all.put(0, answer<done>::yes(done()));
  all.put(2, answer<done>::yes(done()));
  EXPECT_EQ(run_inline(all.settle(here, of_step, limit(runtime::never))), verdict::yes);
  EXPECT_FALSE(all.replies()[1]);
}

TEST(vote_round, is_open_when_the_limit_comes_first) {
  runtime::inline_io here;
  vote_round<done> all(3);
  all.put(0, answer<done>::yes(done()));
  EXPECT_EQ(run_inline(all.settle(here, of_step, limit(here.now()))), verdict::open);
}

TEST(vote_round, counts_a_vote_for_another_as_a_no) {
  vote_round<done> all(2);
  all.put(0, answer<done>::yes(done()), false);
  all.put(1, answer<done>::unknown(storage::failure(errc::unreachable, "")));
  EXPECT_EQ(all.count().no, 1u);
  EXPECT_EQ(all.count().none, 1u);
  EXPECT_EQ(all.count().open(), 0u);
}

}  // namespace
}  // namespace holdfast::quorum
