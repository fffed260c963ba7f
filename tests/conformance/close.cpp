#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class close : public suite {};
HOLDFAST_FOR(close, stores_with({}));

TEST_OF_STORES(close, wakes_every_waiter_of_this_client_and_of_no_other) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  std::vector<std::future<std::error_code>> closed;
  for (std::size_t k = 0; k < 4; ++k) {
    closed.push_back(in_background([s = client(1)]() mutable {
      std::error_code why;
      EXPECT_FALSE(s.try_acquire("a", within(1h), {}, why));
      return why;
    }));
    EXPECT_TRUE(seen(1).comes(event::kind::waiting, k + 1));
  }
  std::future<bool> other =
      in_background([s = client(2)]() mutable { return s.try_acquire("a", within(1h)).has_value(); });
  EXPECT_TRUE(seen(2).comes(event::kind::waiting));
  client(1).close();
  for (auto& c : closed) EXPECT_EQ(test::get(std::move(c)), errc::closed);
  EXPECT_NE(other.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(test::get(std::move(other)));
}

TEST_OF_STORES(close, refuses_new_callers_but_lets_leases_in_hand_live) {
  lease held = client().acquire("a", {.ttl = brief()});
  const auto deadline = held.deadline();
  client().close();
  std::error_code why;
  EXPECT_FALSE(client().try_acquire("b", within(0s), {}, why));
  EXPECT_EQ(why, errc::closed);
  EXPECT_THROW((void)client().acquire("b"), lock_error);
  const bool is_renewed = deadline != boot_clock::time_point::max();
  EXPECT_TRUE(!is_renewed || seen().comes(event::kind::renewed));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.renew(brief()));
  EXPECT_EQ(held.release(), released::yes);
}

TEST_OF_STORES(close, by_dropping_the_handle_waits_for_leases_in_hand) {
  lease held = client(0).acquire("a", {.ttl = 1h});
  drop(0);
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(is_free("a"));
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_TRUE(is_free("a"));
}

TEST_OF_STORES(close, and_open_again_works) {
  for (int k = 0; k < 10; ++k) {
    store again = service_->open({});
    const lease held = again.acquire("a", {.ttl = 1h});
    EXPECT_TRUE(held.held());
  }
}

}  // namespace
}  // namespace holdfast::conformance
