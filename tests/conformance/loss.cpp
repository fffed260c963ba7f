#include "conformance/suite.hpp"
#include "support/eventually.hpp"

namespace holdfast::conformance {
namespace {

class loss_of_state : public suite {};
HOLDFAST_FOR(loss_of_state, stores_with({power::lose_state}));

TEST_OF_STORES(loss_of_state, is_signalled_to_the_holder) {
  lease held = client().acquire("a", {.ttl = brief()});
  const std::stop_token lost = held.lost_token();
  service_->lose_state();
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(held.held());
  EXPECT_FALSE(held.renew(brief()));
  EXPECT_TRUE(seen().comes(event::kind::lost));
  EXPECT_EQ(held.release(), released::lost);
}

TEST_OF_STORES(loss_of_state, is_found_out_by_the_holders_own_renewal) {
  lease held = client().acquire("a");
  service_->lose_state();
  EXPECT_FALSE(held.renew(10s));
  EXPECT_FALSE(held.held());
}

TEST_OF_STORES(loss_of_state, is_found_out_by_a_release) {
  lease held = client().acquire("a");
  service_->lose_state();
  EXPECT_EQ(held.release(), released::lost);
}

TEST_OF_STORES(loss_of_state, does_not_let_the_old_holder_touch_the_new_holders_lock) {
  lease old = client(0).acquire("a");
  service_->lose_state();
  const lease young = client(1).acquire("a");
  EXPECT_FALSE(old.renew(10s));
  EXPECT_EQ(old.release(), released::lost);
  EXPECT_TRUE(young.held());
  EXPECT_FALSE(is_free("a"));
}

TEST_OF_STORES(loss_of_state, wakes_waiters_before_the_old_ttl_expires) {
  const lease held = client(0).acquire("a", {.ttl = 1h});
  std::future<bool> waiting =
      in_background([s = client(1)]() mutable { return s.try_acquire("a", within(1h)).has_value(); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  service_->lose_state();
  EXPECT_TRUE(test::get(std::move(waiting)));
}

TEST_OF_STORES(loss_of_state, is_no_reason_to_wait_for_the_next_caller_of_the_same_client) {
  const lease held = client().acquire("a", {.ttl = brief()});
  std::future<bool> waiting =
      in_background([s = client()]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(seen().comes(event::kind::waiting));
  service_->lose_state();
  EXPECT_TRUE(test::get(std::move(waiting)));
}

class silence : public suite {
 protected:
  ~silence() override { service_->heal(); }
};
HOLDFAST_FOR(silence, stores_with({power::fall_silent}));

class silence_to_renewals : public silence {};
HOLDFAST_FOR(silence_to_renewals, stores_with({power::fall_silent}, guarantees::exclusion::lease));

TEST_OF_STORES(silence_to_renewals, that_lasts_to_the_deadline_is_a_loss_and_is_signalled) {
  lease held = client(0).acquire("a", {.ttl = brief()});
  const std::stop_token lost = held.lost_token();
  service_->fall_silent();
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(held.held());
  EXPECT_EQ(held.release(), released::lost);
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
}

TEST_OF_STORES(silence_to_renewals, that_ends_before_the_deadline_is_no_loss) {
  lease held = client().acquire("a", {.ttl = 4 * brief()});
  service_->fall_silent();
  EXPECT_TRUE(seen().comes(event::kind::suspect)) << "the lease was not renewed";
  service_->heal();
  EXPECT_TRUE(seen().comes(event::kind::renewed));
  EXPECT_TRUE(held.held());
  EXPECT_EQ(held.release(), released::yes);
}

TEST_OF_STORES(silence, is_not_acquired_where_the_limit_ends_first) {
  store patient = service_->open({.patience = test::hang});
  mutex m(patient, "a");
  recursive_mutex r(patient, "a");
  service_->fall_silent();
  EXPECT_FALSE(m.try_lock_for(20ms));
  EXPECT_FALSE(m.try_lock_until(std::chrono::system_clock::now() + 20ms));
  EXPECT_FALSE(r.try_lock_for(20ms));
  EXPECT_FALSE(patient.try_acquire({"a", "b"}, within(20ms)));
  std::error_code why;
  EXPECT_FALSE(patient.try_acquire("a", within(20ms), {}, why));
  EXPECT_FALSE(why);
  std::promise<std::error_code> told;
  patient.async_try_acquire("a", within(20ms), {}, [&](std::error_code code, std::optional<lease> got) {
    EXPECT_FALSE(got);
    told.set_value(code);
  });
  EXPECT_FALSE(test::get(told.get_future()));
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire({"a", "b"}, within(test::hang)));
}

TEST_OF_STORES(silence, is_unreachable_when_no_call_was_answered_for_patience) {
  store impatient = service_->open({.patience = 500ms});
  service_->fall_silent();
  EXPECT_TRUE(test::eventually([&] {
    try {
      EXPECT_FALSE(impatient.try_acquire("a", within(20ms)));
      return false;
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::unreachable);
      EXPECT_EQ(e.lock(), "a");
      return true;
    }
  }));
}

TEST_OF_STORES(silence, is_an_error_after_patience_even_for_unlimited_waiters) {
  store impatient = service_->open({.patience = 50ms});
  service_->fall_silent();
  std::error_code why;
  EXPECT_FALSE(impatient.try_acquire("a", within(std::chrono::hours::max()), {}, why));
  EXPECT_EQ(why, errc::unreachable);
  EXPECT_FALSE(impatient.try_acquire("a", within(0s), {}, why));
  EXPECT_EQ(why, errc::unreachable) << "one poll";
}

TEST_OF_STORES(silence, ends_a_release_or_a_destructor_by_the_deadline) {
  lease first = client().acquire("a", {.ttl = brief()});
  {
    const lease second = client().acquire("b", {.ttl = brief()});
    service_->fall_silent();
    EXPECT_NE(first.release(), released::yes);
  }
  service_->heal();
  EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
  EXPECT_TRUE(client(1).try_acquire("b", within(test::hang)));
}

TEST_OF_STORES(silence, does_not_delay_a_waiter_that_is_stopped) {
  service_->fall_silent();
  std::stop_source stop;
  std::future<std::error_code> waiting = in_background([s = client(), t = stop.get_token()]() mutable {
    std::error_code why;
    EXPECT_FALSE(s.try_acquire("a", until(t), {}, why));
    return why;
  });
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(waiting))) << "a stop request is no error";
}

}  // namespace
}  // namespace holdfast::conformance
