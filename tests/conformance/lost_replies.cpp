// "Timed out, but succeeded": requests that were carried out although their replies were lost.
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class cut_replies : public suite {
 protected:
  ~cut_replies() override { service_->heal(); }
};
HOLDFAST_FOR(cut_replies, stores_with({power::cut_replies}));

class cut_renewals : public cut_replies {};
HOLDFAST_FOR(cut_renewals, stores_with({power::cut_replies}, guarantees::exclusion::lease));

TEST_OF_STORES(cut_replies, to_an_acquire_are_made_good_by_adopting_what_is_ours_already) {
  (void)client();
  service_->cut_replies(2);
  std::optional<lease> held = client().try_acquire("a", within(test::hang), {.ttl = 1h});
  ASSERT_TRUE(held) << "it waited for its own lock";
  EXPECT_TRUE(held->held());
  service_->heal();
  EXPECT_FALSE(is_free("a"));
  EXPECT_EQ(held->release(), released::yes);
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(cut_replies, to_an_acquire_do_not_cost_a_waiter_its_place) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  (void)client(1);
  service_->cut_replies(1);
  std::future<bool> first =
      in_background([s = client(1)]() mutable { return s.try_acquire("a", within(1h), {.ttl = 1h}).has_value(); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  service_->heal();
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(first)));
}

TEST_OF_STORES(cut_replies, to_a_release_are_asked_for_again_in_the_background) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  service_->cut_replies(3);
  EXPECT_EQ(held.release(), released::unknown);
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(cut_renewals, do_not_end_the_lease) {
  lease held = client().acquire("a", {.ttl = brief()});
  service_->cut_replies(1);
  EXPECT_TRUE(seen().comes(event::kind::suspect));
  EXPECT_TRUE(seen().comes(event::kind::renewed));
  EXPECT_TRUE(held.held());
  service_->heal();
  EXPECT_EQ(held.release(), released::yes);
}

TEST_OF_STORES(cut_replies, to_a_renewal_throw_and_leave_the_lock_held) {
  lease held = client().acquire("a");
  service_->cut_replies(1);
  try {
    (void)held.renew(20s);
    FAIL() << "no answer is not an answer";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unreachable);
  }
  service_->heal();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

class lost_replies : public suite {
 protected:
  ~lost_replies() override { service_->heal(); }
};
HOLDFAST_FOR(lost_replies, stores_with({power::lose_replies}));

TEST_OF_STORES(lost_replies, leave_no_lock_behind_when_the_callers_limit_ends_first) {
  store impatient = service_->open({.patience = 1s});
  service_->lose_replies();
  EXPECT_FALSE(impatient.try_acquire("a", within(20ms), {.ttl = 1h}));
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang))) << "the lock is held by a client that has given up";
}

TEST_OF_STORES(lost_replies, leave_no_lock_behind_when_the_caller_is_asked_to_stop) {
  store impatient = service_->open({.patience = 100ms});
  service_->lose_replies();
  std::stop_source stop;
  std::future<bool> asking = in_background(
      [&impatient, t = stop.get_token()] { return impatient.try_acquire("a", until(t), {.ttl = 1h}).has_value(); });
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(asking)));
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang))) << "the lock is held by a client that has given up";
}

}  // namespace
}  // namespace holdfast::conformance
