#include <thread>

#include "conformance/suite.hpp"
#include "support/user_coroutine.hpp"

namespace holdfast::conformance {
namespace {

class leases : public suite {};
HOLDFAST_FOR(leases, stores_with({}));

TEST_OF_STORES(leases, are_used_and_released_on_any_thread) {
  lease here = client().acquire("a");
  std::thread([there = std::move(here)]() mutable {
    EXPECT_TRUE(there.held());
    EXPECT_TRUE(there.renew(10s));
    EXPECT_EQ(there.release(), released::yes);
  }).join();
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(leases, are_released_by_their_destructor_on_any_thread) {
  lease here = client().acquire("a");
  std::thread([there = std::move(here)] { EXPECT_TRUE(there.held()); }).join();
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(leases, are_released_once) {
  lease first = client(0).acquire("a");
  EXPECT_EQ(first.release(), released::yes);
  const lease second = client(1).acquire("a");
  EXPECT_EQ(first.release(), released::yes);
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(is_free("a")) << "the second release freed the lock of another";
}

TEST_OF_STORES(leases, of_one_client_are_not_those_of_another) {
  lease first = client(0).acquire("a", {.ttl = brief() / 3, .renew = false});
  EXPECT_TRUE(test::happens(first.lost_token()));
  const lease second = client(1).acquire("a");
  EXPECT_FALSE(first.renew(10s));
  EXPECT_EQ(first.release(), released::lost);
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(is_free("a")) << "another client freed it";
}

TEST_OF_STORES(leases, count_their_deadline_from_before_they_were_granted) {
  const auto before = boot_clock::now();
  const lease held = client().acquire("a", {.ttl = 10s});
  const auto after = boot_clock::now();
  if (held.deadline() == boot_clock::time_point::max()) return;  // the store needs no ttl
  EXPECT_LT(held.deadline(), after + 10s);
  EXPECT_GT(held.deadline(), before + 9s);
}

test::user_coroutine give_back(lease held, std::promise<released> end) {
  const released how = co_await held.async_release();
  end.set_value(how);
}

TEST_OF_STORES(leases, are_released_by_coroutines_too) {
  std::promise<released> first, second;
  std::future<released> first_end = first.get_future(), second_end = second.get_future();
  give_back(client().acquire("a"), std::move(first));
  EXPECT_EQ(test::get(std::move(first_end)), released::yes);
  EXPECT_TRUE(is_free("a"));
  lease lost = client().acquire("a", {.ttl = brief() / 3, .renew = false});
  EXPECT_TRUE(test::happens(lost.lost_token()));
  give_back(std::move(lost), std::move(second));
  EXPECT_EQ(test::get(std::move(second_end)), released::lost);
}

TEST_OF_STORES(leases, with_bad_options_are_refused_before_anything_is_sent) {
  for (const auto ttl : {0ms, -1ms, 9ms, std::chrono::milliseconds(24h) + 1ms, std::chrono::milliseconds::max()}) {
    std::error_code why;
    EXPECT_FALSE(client().try_acquire("a", within(0s), {.ttl = ttl}, why));
    EXPECT_EQ(why, errc::bad_option) << ttl.count();
  }
  EXPECT_TRUE(is_free("a"));
}

}  // namespace
}  // namespace holdfast::conformance
