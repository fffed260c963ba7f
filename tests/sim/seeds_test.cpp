// The core, over the plainest store.
#include "sim/many_seeds.hpp"

namespace holdfast::sim {
namespace {

class simulator : public testing::TestWithParam<std::uint64_t> {};

TEST_P(simulator, every_invariant_holds_in_every_world) {
  expect_that_every_invariant_holds(store_kind::lease, "lease", sanitized ? 2'000 : 20'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(part, simulator, testing::Range<std::uint64_t>(0, parts));

TEST(simulator, one_seed_is_one_run_exactly_repeatable) { expect_that_one_seed_is_one_run(store_kind::lease, 1'000); }

class simulated_numbers : public testing::TestWithParam<std::uint64_t> {};

TEST_P(simulated_numbers, are_changed_once_and_never_go_back_in_any_world) {
  expect_that_every_invariant_holds(store_kind::numbers, "numbers", sanitized ? 1'000 : 5'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(part, simulated_numbers, testing::Range<std::uint64_t>(0, parts));

TEST(simulated_numbers, one_seed_is_one_run_exactly_repeatable) {
  expect_that_one_seed_is_one_run(store_kind::numbers, 500);
}

}  // namespace
}  // namespace holdfast::sim
