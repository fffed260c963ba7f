// Redlock: the core with its quorum, the product's voters and scripts, and several simulated servers.
#include "sim/many_seeds.hpp"

namespace holdfast::sim {
namespace {

class redlock_simulator : public testing::TestWithParam<std::uint64_t> {};

TEST_P(redlock_simulator, every_invariant_holds_in_every_world) {
  expect_that_every_invariant_holds(store_kind::redlock, "redlock", sanitized ? 150 : 2'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(part, redlock_simulator, testing::Range<std::uint64_t>(0, parts));

TEST(redlock_simulator, one_seed_is_one_run_exactly_repeatable) {
  expect_that_one_seed_is_one_run(store_kind::redlock, 50);
}

}  // namespace
}  // namespace holdfast::sim
