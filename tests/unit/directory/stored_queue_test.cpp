#include "directory/stored_queue.hpp"

#include "unit/directory/lock_tables.hpp"

namespace holdfast::directory {
namespace {

class stored_queues : public lock_tables {};

TEST_F(stored_queues, give_readers_one_fence_and_a_writer_a_higher_block) {
  entry one = claim_of(share::reader()), two = claim_of(share::reader()), writer = claim_of(share());
  const std::uint64_t first = poll(0, one).fence;
  EXPECT_EQ(poll(1, two).fence, first);
  EXPECT_TRUE(releases(0, one));
  EXPECT_EQ(poll(0, one).fence, first) << "it joins the other";
  EXPECT_TRUE(releases(0, one));
  EXPECT_TRUE(releases(1, two));
  const std::uint64_t second = poll(2, writer).fence;
  EXPECT_GT(second, first);
  EXPECT_EQ(poll(2, writer).fence, second) << "it is adopted as it was granted";
  EXPECT_TRUE(releases(2, writer));
  EXPECT_GE(poll(0, one).fence, second + fences_in_a_block);
}

TEST_F(stored_queues, leave_no_row_behind) {
  entry one = claim_of(share::reader()), two = claim_of(share::reader()), writer = claim_of(share());
  EXPECT_TRUE(gets(0, one));
  EXPECT_TRUE(gets(1, two));
  EXPECT_FALSE(gets(2, writer));
  EXPECT_EQ(rows(), 4) << "three, and the sum of the holders";
  EXPECT_TRUE(releases(0, one));
  EXPECT_TRUE(releases(2, writer));
  EXPECT_TRUE(releases(1, two));
  EXPECT_FALSE(releases(1, two));
  EXPECT_EQ(rows(), 0);
}

TEST_F(stored_queues, admit_all_that_fit_and_ask_the_next_to_poll) {
  entry writer = claim_of(share()), one = claim_of(share::reader()), two = claim_of(share::reader()),
        last = claim_of(share());
  EXPECT_TRUE(gets(0, writer));
  EXPECT_FALSE(gets(1, one));
  EXPECT_FALSE(gets(2, two));
  EXPECT_FALSE(gets(3, last));
  EXPECT_TRUE(releases(0, writer));
  EXPECT_EQ(sent(), (messages{{one.owner, true}, {two.owner, true}, {last.owner, false}}));
  EXPECT_TRUE(releases(1, one));
  EXPECT_TRUE(notifications_.empty());
  EXPECT_TRUE(releases(2, two));
  EXPECT_EQ(sent(), (messages{{last.owner, true}}));
}

TEST_F(stored_queues, do_not_let_a_small_request_overtake_a_large_one) {
  entry two = claim_of(share::permits(2, 3)), three = claim_of(share::permits(3, 3)),
        small = one_poll_of(share::permits(1, 3));
  EXPECT_TRUE(gets(0, two));
  EXPECT_FALSE(gets(1, three));
  EXPECT_FALSE(gets(2, small));
  EXPECT_TRUE(releases(1, three));
  EXPECT_TRUE(gets(2, small));
}

TEST_F(stored_queues, resize_for_new_claims_and_keep_those_in_the_queue) {
  entry one = claim_of(share::permits(1, 1)), next = claim_of(share::permits(1, 1)),
        wrong = one_poll_of(share::permits(1, 1));
  EXPECT_TRUE(gets(0, one));
  EXPECT_FALSE(gets(1, next));
  notifications_.clear();
  at(2).resize("a", 2, soon(), notifications_);
  EXPECT_EQ(sent(), (messages{{next.owner, true}}));
  EXPECT_TRUE(gets(1, next));
  EXPECT_THROW((void)poll(2, wrong), storage::failure);
  at(2).resize("a", 1, soon(), notifications_);
  EXPECT_FALSE(gets(2, wrong));
  EXPECT_TRUE(releases(0, one));
  EXPECT_FALSE(gets(2, wrong)) << "the only permit is held";
  EXPECT_TRUE(releases(1, next));
  EXPECT_TRUE(gets(2, wrong));
  at(2).resize("unused", 5, soon(), notifications_);
  EXPECT_EQ(rows(), 2);
}

TEST_F(stored_queues, downgrade_a_writer_as_often_as_it_asks) {
  entry writer = claim_of(share()), reader = claim_of(share::reader()), last = claim_of(share());
  const std::uint64_t fence = poll(0, writer).fence + 5;
  EXPECT_FALSE(gets(1, reader));
  EXPECT_FALSE(gets(2, last));
  notifications_.clear();
  EXPECT_TRUE(at(0).downgrade(writer, fence, 1h, soon(), notifications_));
  EXPECT_EQ(sent(), (messages{{reader.owner, true}, {last.owner, false}}));
  EXPECT_TRUE(at(0).downgrade(writer, fence, 1h, soon(), notifications_));
  EXPECT_EQ(poll(1, reader).fence, fence);
  EXPECT_TRUE(releases(0, writer));
  EXPECT_FALSE(at(0).downgrade(writer, fence, 1h, soon(), notifications_));
  EXPECT_TRUE(releases(1, reader));
  EXPECT_TRUE(gets(2, last));
}

TEST_F(stored_queues, drop_only_the_fixed_lease_that_has_expired) {
  entry brief = claim_of(share::permits(2, 3)), lasting = claim_of(share::permits(1, 3)),
        two = claim_of(share::permits(2, 3));
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
  EXPECT_FALSE(releases(0, brief));
  EXPECT_TRUE(releases(1, lasting));
}

TEST_F(stored_queues, report_when_the_first_of_several_fixed_leases_expires) {
  entry two = claim_of(share::reader()), one = claim_of(share::reader()), endless = claim_of(share::reader()),
        writer = claim_of(share());
  two.fixed = one.fixed = true;
  two.ttl = 2h;
  EXPECT_TRUE(gets(0, endless));
  EXPECT_TRUE(gets(0, two));
  EXPECT_LE(poll(2, writer).expires, boot_clock::now() + 2h);
  EXPECT_TRUE(releases(2, writer));
  EXPECT_TRUE(gets(1, one));
  const instant end = poll(2, writer).expires;
  EXPECT_GT(end, boot_clock::now());
  EXPECT_LE(end, boot_clock::now() + 1h);
  EXPECT_TRUE(releases(1, one));
  EXPECT_GT(poll(2, writer).expires, end);
  EXPECT_TRUE(releases(0, two));
  EXPECT_EQ(poll(2, writer).expires, runtime::never);
}

}  // namespace
}  // namespace holdfast::directory
