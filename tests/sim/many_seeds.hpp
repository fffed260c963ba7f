#pragma once
// Many worlds, each from its seed. HOLDFAST_TEST_LEVEL decides how many; HOLDFAST_SEEDS and HOLDFAST_FIRST_SEED widen
// or move the range.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "sim/run.hpp"
#include "support/test_level.hpp"

namespace holdfast::sim {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// The seeds of a store are split into this many cases, so that shards can run them on several cores.
inline constexpr std::uint64_t parts = 4;

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// All seeds at level check, a fifth of them at level test.
inline std::uint64_t seeds_at_this_level(std::uint64_t all) {
  return test::level() == test::test_level::check ? all : all / 5;
}

inline void expect_that_every_invariant_holds(store_kind store, const char* name, std::uint64_t usual_seeds,
                                              std::uint64_t part) {
  const std::uint64_t first_of_all = number_from("HOLDFAST_FIRST_SEED", 1);
  const std::uint64_t seeds_of_all = number_from("HOLDFAST_SEEDS", seeds_at_this_level(usual_seeds));
  const std::uint64_t first = first_of_all + seeds_of_all * part / parts;
  const std::uint64_t end = first_of_all + seeds_of_all * (part + 1) / parts;
  const std::uint64_t seeds = end - first;
  if (seeds == 0) return;  // HOLDFAST_SEEDS asks for fewer than there are parts
  result all;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < end; ++seed) {
    const result one = run(seed, store);
    ASSERT_EQ(one.violation, "") << "replay it with: build/dev/tests/sim/holdfast_sim --store " << name << " --seed "
                                 << seed << " --trace";
    all.operations += one.operations;
    all.granted += one.granted;
    all.lost += one.lost;
    all.faults += one.faults;
    all.events += one.events;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const auto rate = [&](std::uint64_t n) { return static_cast<double>(n) / took.count(); };
  std::printf("%llu seeds in %.1f s: %.0f seeds, %.0f operations, %.0f faults, %.0f events a second\n",
              static_cast<unsigned long long>(seeds), took.count(), rate(seeds), rate(all.operations), rate(all.faults),
              rate(all.events));
  std::printf("%llu operations, %llu leases of which %llu were lost, %llu faults\n",
              static_cast<unsigned long long>(all.operations), static_cast<unsigned long long>(all.granted),
              static_cast<unsigned long long>(all.lost), static_cast<unsigned long long>(all.faults));
  // A quiet world proves nothing.
  EXPECT_GT(all.granted, seeds);
  EXPECT_GT(all.lost, seeds / 10);
  EXPECT_GT(all.faults, seeds);
}

inline void expect_that_one_seed_is_one_run(store_kind store, std::uint64_t usual_seeds) {
  const std::uint64_t seeds = seeds_at_this_level(usual_seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const result once = run(seed, store), again = run(seed, store);
    ASSERT_EQ(once.hash, again.hash) << "seed " << seed;
    ASSERT_EQ(once.events, again.events) << "seed " << seed;
  }
}

}  // namespace holdfast::sim
