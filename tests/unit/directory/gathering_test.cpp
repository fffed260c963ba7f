#include "directory/gathering.hpp"

#include "unit/directory/ledgers.hpp"

namespace holdfast::directory {
namespace {

class gatherings : public ledgers {};

TEST_F(gatherings, give_readers_who_are_in_together_one_fence_and_a_writer_a_block_above_it) {
  entry one = wanting(share::reader()), two = wanting(share::reader()), writer = wanting(share());
  const std::uint64_t first = ask(0, one).fence;
  EXPECT_EQ(ask(1, two).fence, first);
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_EQ(ask(0, one).fence, first) << "it joins the other";
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_TRUE(gives_back(1, two));
  const std::uint64_t second = ask(2, writer).fence;
  EXPECT_GT(second, first);
  EXPECT_EQ(ask(2, writer).fence, second) << "it is adopted as it was granted";
  EXPECT_TRUE(gives_back(2, writer));
  EXPECT_GE(ask(0, one).fence, second + fences_in_a_block);
}

TEST_F(gatherings, leave_no_row_behind) {
  entry one = wanting(share::reader()), two = wanting(share::reader()), writer = wanting(share());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, two));
  EXPECT_FALSE(gets(2, writer));
  EXPECT_EQ(rows(), 4) << "three, and one for all who hold";
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_TRUE(gives_back(2, writer));
  EXPECT_TRUE(gives_back(1, two));
  EXPECT_FALSE(gives_back(1, two));
  EXPECT_EQ(rows(), 0);
}

TEST_F(gatherings, let_in_all_who_fit_in_order_and_tell_the_next_to_look) {
  entry writer = wanting(share()), one = wanting(share::reader()), two = wanting(share::reader()),
        last = wanting(share());
  EXPECT_TRUE(gets(0, writer));
  EXPECT_FALSE(gets(1, one));
  EXPECT_FALSE(gets(2, two));
  EXPECT_FALSE(gets(3, last));
  EXPECT_TRUE(gives_back(0, writer));
  EXPECT_EQ(told(), (heard{{one.owner, true}, {two.owner, true}, {last.owner, false}}));
  EXPECT_TRUE(gives_back(1, one));
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(gives_back(2, two));
  EXPECT_EQ(told(), (heard{{last.owner, true}}));
}

TEST_F(gatherings, do_not_let_a_small_request_overtake_a_large_one) {
  entry two = wanting(share::permits(2, 3)), three = wanting(share::permits(3, 3)),
        small = a_look(share::permits(1, 3));
  EXPECT_TRUE(gets(0, two));
  EXPECT_FALSE(gets(1, three));
  EXPECT_FALSE(gets(2, small));
  EXPECT_TRUE(gives_back(1, three));
  EXPECT_TRUE(gets(2, small));
}

TEST_F(gatherings, resize_for_those_who_come_and_turn_nobody_away) {
  entry one = wanting(share::permits(1, 1)), next = wanting(share::permits(1, 1)), wrong = a_look(share::permits(1, 1));
  EXPECT_TRUE(gets(0, one));
  EXPECT_FALSE(gets(1, next));
  told_.clear();
  at(2).resize("a", 2, soon(), told_);
  EXPECT_EQ(told(), (heard{{next.owner, true}}));
  EXPECT_TRUE(gets(1, next));
  EXPECT_THROW((void)ask(2, wrong), storage::failure);
  at(2).resize("a", 1, soon(), told_);
  EXPECT_FALSE(gets(2, wrong));
  EXPECT_TRUE(gives_back(0, one));
  EXPECT_FALSE(gets(2, wrong)) << "there is one, and it is taken";
  EXPECT_TRUE(gives_back(1, next));
  EXPECT_TRUE(gets(2, wrong));
  at(2).resize("nobody is here", 5, soon(), told_);
  EXPECT_EQ(rows(), 2);
}

TEST_F(gatherings, make_a_reader_of_a_writer_as_often_as_it_asks) {
  entry writer = wanting(share()), reader = wanting(share::reader()), last = wanting(share());
  const std::uint64_t fence = ask(0, writer).fence + 5;
  EXPECT_FALSE(gets(1, reader));
  EXPECT_FALSE(gets(2, last));
  told_.clear();
  EXPECT_TRUE(at(0).downgrade(writer, fence, 1h, soon(), told_));
  EXPECT_EQ(told(), (heard{{reader.owner, true}, {last.owner, false}}));
  EXPECT_TRUE(at(0).downgrade(writer, fence, 1h, soon(), told_));
  EXPECT_EQ(ask(1, reader).fence, fence);
  EXPECT_TRUE(gives_back(0, writer));
  EXPECT_FALSE(at(0).downgrade(writer, fence, 1h, soon(), told_));
  EXPECT_TRUE(gives_back(1, reader));
  EXPECT_TRUE(gets(2, last));
}

TEST_F(gatherings, drop_a_fixed_share_when_its_time_is_over_and_no_other) {
  entry brief = wanting(share::permits(2, 3)), lasting = wanting(share::permits(1, 3)),
        two = wanting(share::permits(2, 3));
  brief.fixed = lasting.fixed = true;
  brief.ttl = 20ms;
  EXPECT_TRUE(gets(0, brief));
  const instant end = boot_clock::now() + brief.ttl;
  EXPECT_TRUE(gets(1, lasting));
  while (boot_clock::now() < end) {
  }
  EXPECT_FALSE(at(0).renew(brief, 1h, soon()));
  EXPECT_TRUE(at(1).renew(lasting, 1h, soon()));
  EXPECT_TRUE(gets(2, two));
  EXPECT_FALSE(gives_back(0, brief));
  EXPECT_TRUE(gives_back(1, lasting));
}

TEST_F(gatherings, say_when_the_first_of_several_fixed_leases_ends) {
  entry two = wanting(share::reader()), one = wanting(share::reader()), endless = wanting(share::reader()),
        writer = wanting(share());
  two.fixed = one.fixed = true;
  two.ttl = 2h;
  EXPECT_TRUE(gets(0, endless));
  EXPECT_TRUE(gets(0, two));
  EXPECT_LE(ask(2, writer).expires, boot_clock::now() + 2h);
  EXPECT_TRUE(gives_back(2, writer));
  EXPECT_TRUE(gets(1, one));
  const instant end = ask(2, writer).expires;
  EXPECT_GT(end, boot_clock::now());
  EXPECT_LE(end, boot_clock::now() + 1h);
  EXPECT_TRUE(gives_back(1, one));
  EXPECT_GT(ask(2, writer).expires, end);
  EXPECT_TRUE(gives_back(0, two));
  EXPECT_EQ(ask(2, writer).expires, runtime::never);
}

}  // namespace
}  // namespace holdfast::directory
