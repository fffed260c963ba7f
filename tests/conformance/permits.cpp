#include "conformance/suite.hpp"
#include "support/eventually.hpp"

namespace holdfast::conformance {
namespace {

class permits : public suite {
 protected:
  /// The ttl is too long to hide a release that did not happen.
  static constexpr lock_options patient{.ttl = 1h};

  template <class F>
  static errc failure_of(F f) {
    try {
      f();
    } catch (const lock_error& e) {
      return static_cast<errc>(e.code().value());
    }
    ADD_FAILURE() << "it did not fail";
    return {};
  }
};
HOLDFAST_FOR(permits, stores_with({power::share}));

TEST_OF_STORES(permits, are_as_many_as_was_said_over_all_clients) {
  semaphore one(client(0), "a", 3, patient), other(client(1), "a", 3, patient);
  one.acquire();
  one.acquire();
  EXPECT_TRUE(other.try_acquire());
  EXPECT_FALSE(one.try_acquire());
  EXPECT_FALSE(other.try_acquire());
  one.release();
  EXPECT_TRUE(other.try_acquire());
  other.release(2);
  one.release();
}

TEST_OF_STORES(permits, are_taken_several_at_once_or_none) {
  semaphore s(client(0), "a", 5, patient);
  lease three = s.take(3);
  EXPECT_TRUE(three.held());
  EXPECT_FALSE(s.try_take(within(0s), 3));
  std::optional<lease> two = s.try_take(within(0s), 2);
  EXPECT_TRUE(two);
  EXPECT_EQ(three.release(), released::yes);
  EXPECT_TRUE(s.try_take(within(0s), 3));
}

TEST_OF_STORES(permits, go_to_waiters_in_order_without_overtaking_a_large_request) {
  semaphore all(client(0), "a", 4, patient);
  lease first = all.take(2), second = all.take(2);
  std::vector<std::string> order;
  std::mutex guard;
  const auto note = [&](const std::string& who) {
    const std::lock_guard lock(guard);
    order.push_back(who);
  };
  std::future<void> large = in_background([&, s = client(1)] {
    semaphore mine(s, "a", 4, patient);
    const lease taken = mine.take(4);
    note("large");
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<void> small = in_background([&, s = client(2)] {
    semaphore mine(s, "a", 4, patient);
    const lease taken = mine.take(1);
    note("small");
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  EXPECT_EQ(first.release(), released::yes);  // enough for the small request, which is not first in the queue
  EXPECT_FALSE(all.try_acquire());
  EXPECT_EQ(second.release(), released::yes);
  test::get(std::move(large));
  test::get(std::move(small));
  EXPECT_EQ(order, (std::vector<std::string>{"large", "small"}));
}

TEST_OF_STORES(permits, wake_all_waiters_that_fit_when_many_are_released) {
  constexpr std::size_t many = 4;
  semaphore all(client(0), "a", many, patient);
  lease everything = all.take(many);
  std::counting_semaphore<> inside(0), leave(0);
  std::vector<std::future<void>> waiting;
  for (std::size_t n = 1; n <= many; ++n) {
    waiting.push_back(in_background([&, s = client(n)] {
      semaphore mine(s, "a", many, patient);
      const lease one = mine.take();
      inside.release();
      EXPECT_TRUE(test::happens(leave));
    }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));
  }
  EXPECT_EQ(everything.release(), released::yes);
  for (std::size_t n = 0; n < many; ++n) EXPECT_TRUE(test::happens(inside));
  leave.release(static_cast<std::ptrdiff_t>(many));
  for (auto& w : waiting) test::get(std::move(w));
}

TEST_OF_STORES(permits, go_to_the_next_when_the_first_in_line_gives_up) {
  semaphore all(client(0), "a", 2, patient);
  const lease one = all.take(1);
  std::stop_source stop;
  std::future<bool> large = in_background([s = client(1), t = stop.get_token()] {
    semaphore mine(s, "a", 2, patient);
    return mine.try_take(until(t), 2).has_value();
  });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> small = in_background([s = client(2)] {
    semaphore mine(s, "a", 2, patient);
    return mine.try_acquire_for(test::hang);
  });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(large)));
  EXPECT_TRUE(test::get(std::move(small)));
}

TEST_OF_STORES(permits, have_a_number_that_all_users_must_agree_on) {
  semaphore right(client(0), "a", 3, patient);
  semaphore wrong(client(1), "a", 4, patient);
  right.acquire();
  EXPECT_EQ(failure_of([&] { wrong.acquire(); }), errc::foreign);
  right.release();
  EXPECT_TRUE(wrong.try_acquire());  // the semaphore has no users any more
  EXPECT_EQ(failure_of([&] { (void)right.try_acquire(); }), errc::foreign);
  wrong.release();
}

TEST_OF_STORES(permits, are_not_mixed_up_with_a_lock_of_that_name) {
  semaphore some(client(0), "a", 3, patient);
  some.acquire();
  EXPECT_EQ(failure_of([&] { (void)client(1).try_acquire("a"); }), errc::foreign);
  shared_mutex reading(client(1), "a");
  EXPECT_EQ(failure_of([&] { (void)reading.try_lock_shared(); }), errc::foreign);
  some.release();
  const lease lock = client(1).acquire("a");
  EXPECT_EQ(failure_of([&] { (void)some.try_acquire(); }), errc::foreign);
}

TEST_OF_STORES(permits, go_to_waiters_when_their_number_grows) {
  semaphore s(client(0), "a", 1, patient);
  s.acquire();
  std::future<bool> next = in_background([&] { return s.try_acquire_for(test::hang); });
  EXPECT_TRUE(seen(0).comes(event::kind::waiting));
  s.resize(2);
  EXPECT_EQ(s.size(), 2);
  EXPECT_TRUE(test::get(std::move(next)));
  EXPECT_FALSE(s.try_acquire());
  s.release(2);
}

TEST_OF_STORES(permits, can_be_made_fewer_and_what_is_held_stays_held) {
  semaphore s(client(0), "a", 3, patient);
  lease three = s.take(3);
  s.resize(2);
  EXPECT_TRUE(three.held());
  EXPECT_FALSE(s.try_acquire());
  EXPECT_EQ(failure_of([&] { (void)s.try_take(within(0s), 3); }), errc::bad_option);
  EXPECT_EQ(three.release(), released::yes);
  EXPECT_TRUE(s.try_take(within(0s), 2));
}

TEST_OF_STORES(permits, are_between_one_and_as_many_as_there_are) {
  EXPECT_EQ(failure_of([&] { semaphore none(client(0), "a", 0); }), errc::bad_option);
  EXPECT_EQ(failure_of([&] { semaphore below(client(0), "a", -1); }), errc::bad_option);
  EXPECT_EQ(failure_of([&] { semaphore large(client(0), "a", semaphore::most + 1); }), errc::bad_option);
  semaphore s(client(0), "a", 2);
  EXPECT_EQ(failure_of([&] { (void)s.take(0); }), errc::bad_option);
  EXPECT_EQ(failure_of([&] { (void)s.take(3); }), errc::bad_option);
  EXPECT_EQ(failure_of([&] { s.resize(0); }), errc::bad_option);
}

TEST_OF_STORES(permits, warn_the_observer_when_released_without_acquiring) {
  semaphore s(client(0), "a", 2, patient), other(client(1), "a", 2, patient);
  other.acquire();
  s.acquire();
  s.release(2);
  EXPECT_TRUE(seen(0).comes(event::kind::warning));
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());  // the other permit is still held
  s.release();
  other.release();
}

TEST_OF_STORES(permits, are_not_bound_to_threads) {
  semaphore s(client(0), "a", 1, patient);
  s.acquire();
  test::get(in_background([&] { s.release(); }));
  EXPECT_TRUE(s.try_acquire());
  s.release();
}

class permits_that_expire : public suite {};
HOLDFAST_FOR(permits_that_expire, stores_with({power::share}));

TEST_OF_STORES(permits_that_expire, become_free_again) {
  semaphore dead(client(0), "a", 3, {.ttl = brief(), .renew = false}), next(client(1), "a", 3, {.ttl = 1h});
  const lease two = dead.take(2);
  const std::optional<lease> all = next.try_take(within(test::hang), 3);
  EXPECT_TRUE(all);
  EXPECT_FALSE(two.held());
}

class permits_under_a_ttl : public suite {};
HOLDFAST_FOR(permits_under_a_ttl, stores_with({power::share}, guarantees::exclusion::lease));

TEST_OF_STORES(permits_under_a_ttl, are_kept_for_as_long_as_they_are_renewed) {
  semaphore s(client(0), "a", 2, {.ttl = brief()});
  const lease one = s.take();
  EXPECT_TRUE(seen(0).comes(event::kind::renewed, 3));
  EXPECT_TRUE(one.held());
}

}  // namespace
}  // namespace holdfast::conformance
