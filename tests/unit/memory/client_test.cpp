#include "memory/client.hpp"

#include <gtest/gtest.h>

#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;
using runtime::wake;
using storage::grant;
using test::is_ready;

class memory_client : public testing::Test {
 protected:
  std::unique_ptr<storage::claim> claim(std::uint64_t owner, bool queue = true) {
    return client_.open({.name = "a", .owner = {1, owner}, .ttl = 10s, .queue = queue, .label = "me"});
  }
  [[nodiscard]] limit in(runtime::span by) const { return limit(io_.now() + by); }
  std::future<answer<grant>> poll(storage::claim& c) { return begin(c.poll(io_, in(1s))); }
  template <class T>
  std::future<T> begin(runtime::task<T> work) {
    std::future<T> end = test::start(running_, std::move(work));
    io_.run();
    return end;
  }

  test::manual_io io_;
  runtime::task_group running_{io_};
  std::shared_ptr<server> server_ = std::make_shared<server>();
  client client_{server_};
};

TEST_F(memory_client, says_what_it_promises) {
  const guarantees g = client_.promises();
  EXPECT_EQ(g.by, guarantees::exclusion::lease);
  EXPECT_TRUE(g.fair);
  EXPECT_FALSE(g.survives_restart);
  EXPECT_FALSE(g.notices_death_at_once);
}

TEST_F(memory_client, counts_deadlines_from_the_request) {
  const auto mine = claim(1);
  answer<grant> granted = poll(*mine).get();
  ASSERT_TRUE(granted.is_yes());
  EXPECT_EQ(granted.value().deadline, storage::deadline_after(io_.now(), 10s));
  EXPECT_EQ(granted.value().fences, server::fences_in_a_block);
  io_.advance(1s);
  answer<instant> renewed = begin(mine->renew(io_, 20s, in(1s))).get();
  ASSERT_TRUE(renewed.is_yes());
  EXPECT_EQ(renewed.value(), storage::deadline_after(io_.now(), 20s));
}

TEST_F(memory_client, wakes_when_it_was_granted) {
  const auto holder = claim(1), waiter = claim(2);
  ASSERT_TRUE(poll(*holder).get().is_yes());
  EXPECT_EQ(poll(*waiter).get().who().holder, "me");
  std::future<wake> woken = begin(waiter->wakeup(io_, limit(runtime::never)));
  EXPECT_FALSE(is_ready(woken));
  EXPECT_TRUE(begin(holder->release(io_, in(1s))).get().is_yes());
  EXPECT_EQ(woken.get(), wake::signalled);
  EXPECT_TRUE(poll(*waiter).get().is_yes());
}

TEST_F(memory_client, wakes_without_notification_when_the_holders_lease_ends) {
  const auto holder = claim(1), waiter = claim(2);
  ASSERT_TRUE(poll(*holder).get().is_yes());
  ASSERT_TRUE(poll(*waiter).get().is_no());
  std::future<wake> woken = begin(waiter->wakeup(io_, limit(runtime::never)));
  io_.advance(10s - 1ns);
  EXPECT_FALSE(is_ready(woken));
  io_.advance(1ns);
  EXPECT_EQ(woken.get(), wake::signalled);
  EXPECT_TRUE(poll(*waiter).get().is_yes());
}

TEST_F(memory_client, stops_waiting_at_the_callers_limit_or_stop) {
  const auto holder = claim(1), waiter = claim(2);
  ASSERT_TRUE(poll(*holder).get().is_yes());
  ASSERT_TRUE(poll(*waiter).get().is_no());
  std::future<wake> late = begin(waiter->wakeup(io_, in(1s)));
  io_.advance(1s);
  EXPECT_EQ(late.get(), wake::late);
  std::stop_source stop;
  std::future<wake> stopped = begin(waiter->wakeup(io_, until(stop.get_token())));
  stop.request_stop();
  io_.run();
  EXPECT_EQ(stopped.get(), wake::stopped);
}

TEST_F(memory_client, leaves_the_queue_when_its_claim_goes) {
  const auto holder = claim(1), last = claim(3);
  ASSERT_TRUE(poll(*holder).get().is_yes());
  {
    const auto brief = claim(2);
    ASSERT_TRUE(poll(*brief).get().is_no());
  }
  ASSERT_TRUE(poll(*last).get().is_no());
  EXPECT_TRUE(begin(holder->release(io_, in(1s))).get().is_yes());
  EXPECT_TRUE(poll(*last).get().is_yes());
}

TEST_F(memory_client, does_not_carry_out_lost_requests) {
  server_->set_faults({.lose_requests = 1});
  const auto mine = claim(1);
  std::future<answer<grant>> asked = poll(*mine);
  io_.advance(1s - 1ns);
  EXPECT_FALSE(is_ready(asked));
  io_.advance(1ns);
  answer<grant> end = asked.get();
  ASSERT_TRUE(end.is_unknown());
  EXPECT_EQ(end.why().code, errc::unreachable);
  EXPECT_EQ(server_->size(), 0u);
}

TEST_F(memory_client, loses_replies_to_requests_that_were_carried_out) {
  server_->set_faults({.lose_replies = 1});
  const auto mine = claim(1);
  std::future<answer<grant>> asked = poll(*mine);
  EXPECT_EQ(server_->size(), 1u);
  io_.advance(1s);
  EXPECT_TRUE(asked.get().is_unknown());
  server_->set_faults({});
  EXPECT_TRUE(poll(*mine).get().is_yes()) << "it does not adopt its own";
}

TEST_F(memory_client, loses_one_in_n) {
  server_->set_faults({.lose_requests = 4});
  const auto mine = claim(1);
  int lost = 0;
  for (int k = 0; k < 200; ++k) {
    std::future<answer<grant>> asked = poll(*mine);
    lost += is_ready(asked) ? 0 : 1;
    io_.advance(1s);
  }
  EXPECT_GT(lost, 25);
  EXPECT_LT(lost, 80);
}

TEST_F(memory_client, cuts_the_wait_for_a_lost_reply_when_it_is_asked_to_stop) {
  server_->set_faults({.lose_requests = 1});
  const auto mine = claim(1);
  std::stop_source stop;
  std::future<answer<grant>> asked = begin(mine->poll(io_, until(stop.get_token())));
  EXPECT_FALSE(is_ready(asked));
  stop.request_stop();
  io_.run();
  EXPECT_TRUE(asked.get().is_unknown());
}

TEST_F(memory_client, refuses_with_the_given_failure) {
  server_->set_faults({.refusal = storage::failure(errc::denied, "go away")});
  const auto mine = claim(1);
  answer<grant> end = poll(*mine).get();
  ASSERT_TRUE(end.is_unknown());
  EXPECT_EQ(end.why().code, errc::denied);
  EXPECT_EQ(end.why().text, "go away");
}

}  // namespace
}  // namespace holdfast::memory
