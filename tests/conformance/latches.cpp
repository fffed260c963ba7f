// Latches: all count, all wait, over all clients.
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class latches : public suite {
 protected:
  ~latches() override { service_->heal(); }

  template <class F>
  static std::error_code code_of(F f) {
    try {
      f();
    } catch (const lock_error& e) {
      return e.code();
    }
    return {};
  }
};
HOLDFAST_FOR(latches, stores_with({power::numbers}));

TEST_OF_STORES(latches, let_all_pass_when_all_have_arrived) {
  constexpr std::size_t clients = 4;
  std::atomic<std::size_t> arrived{0};
  std::vector<std::future<bool>> all;
  for (std::size_t n = 0; n < clients; ++n) {
    all.push_back(in_background([s = client(n), &arrived] {
      latch together(s, "start", clients);
      ++arrived;
      together.arrive_and_wait();
      return arrived == clients;
    }));
  }
  for (auto& each : all) EXPECT_TRUE(test::get(std::move(each))) << "a client did not arrive";
}

TEST_OF_STORES(latches, wake_waiters_by_a_message_and_let_late_ones_pass) {
  latch counts(client(0), "a", 2);
  EXPECT_FALSE(counts.try_wait());
  std::vector<std::future<bool>> waiting;
  for (const std::size_t n : {1u, 1u, 2u}) {
    waiting.push_back(in_background([s = client(n)] { return latch(s, "a", 2).wait(within(9s)); }));
  }
  counts.count_down();
  EXPECT_FALSE(counts.wait(within(200ms)));
  counts.count_down();
  for (auto& each : waiting) EXPECT_TRUE(test::get(std::move(each)));
  EXPECT_TRUE(counts.try_wait());
  EXPECT_TRUE(latch(client(3), "a", 2).try_wait());
  latch(client(3), "a", 2).wait();
}

TEST_OF_STORES(latches, count_several_at_once_and_never_below_zero) {
  latch counts(client(0), "a", 5), others(client(1), "a", 5);
  counts.count_down(3);
  EXPECT_EQ(code_of([&] { others.count_down(3); }), errc::bad_option);
  EXPECT_FALSE(others.try_wait());
  others.count_down(2);
  EXPECT_TRUE(counts.try_wait());
  EXPECT_EQ(code_of([&] { counts.count_down(); }), errc::bad_option);
  EXPECT_TRUE(counts.try_wait());
}

TEST_OF_STORES(latches, have_one_count_that_all_clients_must_agree_on) {
  latch counts(client(0), "a", 3);
  counts.count_down();
  latch other(client(1), "a", 4);
  EXPECT_EQ(code_of([&] { other.count_down(); }), errc::foreign);
  EXPECT_EQ(code_of([&] { (void)other.try_wait(); }), errc::foreign);
  EXPECT_EQ(code_of([&] { other.wait(); }), errc::foreign);
  counts.count_down(2);
  EXPECT_TRUE(counts.try_wait()) << "the refused call was counted";
}

TEST_OF_STORES(latches, have_nothing_to_do_with_a_lock_of_that_name) {
  const lease held = client(0).acquire("a");
  latch counts(client(1), "a", 1);
  counts.arrive_and_wait();
  EXPECT_TRUE(held.held());
}

TEST_OF_STORES(latches, are_forgotten_after_their_ttl) {
  latch counts(client(0), "a", 1, {.ttl = brief() / 3});
  counts.count_down();
  while (counts.try_wait()) {
  }
  counts.count_down();  // the latch has its first count again
}

TEST_OF_STORES(latches, are_waited_for_until_asked_to_stop_or_the_store_is_closed) {
  std::stop_source stop;
  std::future<bool> asked =
      in_background([s = client(0), t = stop.get_token()] { return latch(s, "a", 1).wait(until(t)); });
  std::future<std::error_code> closed =
      in_background([s = client(1)] { return code_of([&] { latch(s, "a", 1).wait(); }); });
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(asked)));
  client(1).close();
  EXPECT_EQ(test::get(std::move(closed)), errc::closed);
  EXPECT_EQ(code_of([&] { latch(client(1), "a", 1).count_down(); }), errc::closed);
  EXPECT_FALSE(latch(client(0), "a", 1).try_wait()) << "it was counted in a store that is closed";
}

class cut_latches : public latches {};
HOLDFAST_FOR(cut_latches, stores_with({power::numbers, power::cut_replies}));

TEST_OF_STORES(cut_latches, count_exactly_once_though_replies_are_lost) {
  constexpr int expected = 10;
  latch one(client(0), "a", expected), other(client(1), "a", expected);
  for (int n = 0; n < expected; ++n) {
    EXPECT_FALSE(one.try_wait());
    service_->cut_replies(2);
    (n % 2 == 0 ? one : other).count_down();
    service_->cut_replies(0);
  }
  EXPECT_TRUE(one.try_wait());
}

class lost_latches : public latches {};
HOLDFAST_FOR(lost_latches, stores_with({power::numbers, power::lose_replies}));

TEST_OF_STORES(lost_latches, say_that_it_is_not_known_only_when_it_is_not) {
  store impatient = service_->open({.patience = 300ms});
  latch counts(impatient, "a", 1);
  EXPECT_FALSE(counts.try_wait());
  service_->lose_replies();
  EXPECT_EQ(code_of([&] { counts.count_down(); }), errc::unreachable);
  EXPECT_EQ(code_of([&] { (void)counts.try_wait(); }), errc::unreachable);
  service_->heal();
  EXPECT_FALSE(latch(client(1), "b", 1).try_wait());
}

class latches_of_processes : public latches {};
HOLDFAST_FOR(latches_of_processes, stores_with({power::numbers, power::end_clients}));

TEST_OF_STORES(latches_of_processes, keep_what_a_process_counted_that_was_killed) {
  latch waits(client(0), "a", 2);
  latch(client(1), "a", 2).count_down();
  service_->kill_newest();
  EXPECT_FALSE(waits.try_wait());
  waits.count_down();
  EXPECT_TRUE(waits.try_wait());
}

}  // namespace
}  // namespace holdfast::conformance
