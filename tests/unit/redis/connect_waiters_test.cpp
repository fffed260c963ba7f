#include "redis/transport/connect_waiters.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using entry = connect_waiters::entry;

struct connect_waiters_test : testing::Test {
  std::atomic<bool> open{false};
  connect_waiters all{open};
  connect_waiters::waiter one{all}, other{all};
};

TEST_F(connect_waiters_test, tells_a_caller_that_there_is_a_connection) {
  open = true;
  EXPECT_EQ(all.enter(one), entry::open);
  EXPECT_FALSE(one.leave()) << "it never entered";
}

TEST_F(connect_waiters_test, lets_only_the_first_start_to_connect) {
  EXPECT_EQ(all.enter(one), entry::first);
  EXPECT_EQ(all.enter(other), entry::waiting);
  EXPECT_TRUE(one.leave());
  EXPECT_FALSE(all.stop_connecting()) << "the other waits";
  EXPECT_TRUE(other.leave());
  EXPECT_TRUE(all.stop_connecting());
  EXPECT_EQ(all.enter(one), entry::first);
}

TEST_F(connect_waiters_test, gives_all_waiters_the_reason) {
  (void)all.enter(one);
  (void)all.enter(other);
  all.wake_all(storage::failure(errc::unreachable, "refused"));
  for (const connect_waiters::waiter* each : {&one, &other}) {
    EXPECT_TRUE(each->woken.is_set());
    ASSERT_TRUE(each->why);
    EXPECT_EQ(each->why->text, "refused");
  }
  EXPECT_FALSE(one.leave()) << "it was woken";
  EXPECT_TRUE(all.stop_connecting());
}

TEST_F(connect_waiters_test, has_another_first_when_the_task_cannot_start) {
  EXPECT_EQ(all.enter(one), entry::first);
  all.give_up_connecting();
  EXPECT_EQ(all.enter(other), entry::first);
}

}  // namespace
}  // namespace holdfast::redis
