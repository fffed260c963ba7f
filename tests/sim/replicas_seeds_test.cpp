// A primary with a replica that takes over, with or without its last writes: the product's client, led to the new one.
#include "sim/many_seeds.hpp"

namespace holdfast::sim {
namespace {

class replicas_simulator : public testing::TestWithParam<std::uint64_t> {};

TEST_P(replicas_simulator, every_invariant_holds_in_every_world) {
  expect_that_every_invariant_holds(store_kind::replicas, "replicas", sanitized ? 400 : 3'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(part, replicas_simulator, testing::Range<std::uint64_t>(0, parts));

TEST(replicas_simulator, one_seed_is_one_run_exactly_repeatable) {
  expect_that_one_seed_is_one_run(store_kind::replicas, 100);
}

}  // namespace
}  // namespace holdfast::sim
