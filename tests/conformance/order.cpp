#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class order : public suite {};
HOLDFAST_FOR(order, fair_stores());

TEST_OF_STORES(order, is_first_come_first_served_among_clients) {
  constexpr std::size_t many = 8;
  std::vector<std::size_t> served;
  lease held = client(0).acquire("a");
  std::vector<std::future<void>> waiting;
  for (std::size_t n = 1; n <= many; ++n) {
    waiting.push_back(in_background([&served, s = client(n), n]() mutable {
      const lease mine = s.acquire("a");
      served.push_back(n);
    }));
    EXPECT_TRUE(seen(n).comes(event::kind::waiting));  // it has its place
  }
  EXPECT_EQ(held.release(), released::yes);
  for (auto& w : waiting) test::get(std::move(w));
  std::vector<std::size_t> expected;
  for (std::size_t n = 1; n <= many; ++n) expected.push_back(n);
  EXPECT_EQ(served, expected);
}

TEST_OF_STORES(order, is_first_come_first_served_within_a_client) {
  constexpr std::size_t many = 40;  // more than a burst
  std::vector<std::size_t> served;
  lease held = client(0).acquire("a");
  std::vector<std::future<void>> waiting;
  for (std::size_t n = 1; n <= many; ++n) {
    waiting.push_back(in_background([&served, s = client(0), n]() mutable {
      const lease mine = s.acquire("a");
      served.push_back(n);
    }));
    EXPECT_TRUE(seen(0).comes(event::kind::waiting, n));
  }
  EXPECT_EQ(held.release(), released::yes);
  for (auto& w : waiting) test::get(std::move(w));
  std::vector<std::size_t> expected;
  for (std::size_t n = 1; n <= many; ++n) expected.push_back(n);
  EXPECT_EQ(served, expected);
}

TEST_OF_STORES(order, skips_waiters_that_have_given_up) {
  std::vector<std::size_t> served;
  lease held = client(0).acquire("a");
  std::stop_source stop;
  std::future<bool> gone = in_background(
      [s = client(1), t = stop.get_token()]() mutable { return s.try_acquire("a", until(t)).has_value(); });
  EXPECT_TRUE(seen(1).comes(event::kind::waiting));
  std::future<bool> next =
      in_background([s = client(2)]() mutable { return s.try_acquire("a", within(test::hang)).has_value(); });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  stop.request_stop();
  EXPECT_FALSE(test::get(std::move(gone)));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(next)));
}

/// A client with many callers does not starve the others: after a burst it goes to the end of the queue.
TEST_OF_STORES(order, gives_every_client_its_turn_however_many_callers_another_has) {
  store greedy = client(0);
  std::atomic<bool> over{false};
  test::threads all(4, [&](int) {
    while (!over) (void)greedy.acquire("a").release();
  });
  for (int k = 0; k < 20; ++k) {
    EXPECT_TRUE(client(1).try_acquire("a", within(test::hang)));
  }
  over = true;
  all.join();
}

}  // namespace
}  // namespace holdfast::conformance
