#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class fences : public suite {};
HOLDFAST_FOR(fences, stores_with({}));

TEST_OF_STORES(fences, grow_with_every_holder_of_one_client) {
  std::uint64_t last = 0;
  for (int k = 0; k < 50; ++k) {
    const lease held = client().acquire("a");
    EXPECT_GT(held.fence(), last);
    last = held.fence();
  }
}

TEST_OF_STORES(fences, grow_with_every_holder_whichever_client_and_thread_it_is_on) {
  std::uint64_t last = 0;
  int wrong = 0;
  std::vector<store> clients;
  for (std::size_t n = 0; n < 4; ++n) clients.push_back(client(n));
  {
    const test::threads all(8, [&](int me) {
      store& mine = clients[static_cast<std::size_t>(me) % clients.size()];
      for (int k = 0; k < 50; ++k) {
        const lease held = mine.acquire("a");
        if (held.fence() <= last) ++wrong;
        last = held.fence();
      }
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_OF_STORES(fences, grow_when_a_lease_has_run_out) {
  const lease first = client(0).acquire("a", {.ttl = brief() / 3, .renew = false});
  const lease second = client(1).acquire("a");
  EXPECT_GT(second.fence(), first.fence());
}

TEST_OF_STORES(fences, stay_the_same_for_as_long_as_a_lease_is_held) {
  lease held = client().acquire("a");
  const std::uint64_t fence = held.fence();
  EXPECT_TRUE(held.renew(brief()));
  EXPECT_EQ(held.fence(), fence);
  EXPECT_EQ(held.release(), released::yes);
  EXPECT_EQ(held.fence(), fence);
}

TEST_OF_STORES(fences, keep_a_late_holder_from_the_resource) {
  fence_gate resource;
  const lease late = client(0).acquire("a", {.ttl = brief() / 3, .renew = false});
  EXPECT_TRUE(resource.admit(late.fence()));
  const lease next = client(1).acquire("a");
  EXPECT_TRUE(resource.admit(next.fence()));
  EXPECT_FALSE(resource.admit(late.fence()));
}

class fences_after_a_loss_of_state : public suite {};
HOLDFAST_FOR(fences_after_a_loss_of_state, stores_with({power::lose_state}));

TEST_OF_STORES(fences_after_a_loss_of_state, do_not_go_back) {
  lease before = client(0).acquire("a");
  service_->lose_state();
  const lease after = client(1).acquire("a");
  EXPECT_GT(after.fence(), before.fence());
}

}  // namespace
}  // namespace holdfast::conformance
