// Simulates the whole path to Redis: the core and the product's Redis client and scripts, against a simulated server.
#include "sim/many_seeds.hpp"

namespace holdfast::sim {
namespace {

class redis_simulator : public testing::TestWithParam<std::uint64_t> {};

TEST_P(redis_simulator, every_invariant_holds_in_every_world) {
  expect_that_every_invariant_holds(store_kind::redis, "redis", sanitized ? 1'000 : 12'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(part, redis_simulator, testing::Range<std::uint64_t>(0, parts));

TEST(redis_simulator, one_seed_is_one_run_exactly_repeatable) {
  expect_that_one_seed_is_one_run(store_kind::redis, 300);
}

}  // namespace
}  // namespace holdfast::sim
