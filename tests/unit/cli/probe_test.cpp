#include "probe/probe.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

hold_options a_lock() { return {}; }

hold_options a_reader() {
  hold_options o;
  o.shared = true;
  return o;
}

hold_options permits(unsigned taken, unsigned all) {
  hold_options o;
  o.permits = hold_options::share{taken, all};
  return o;
}

state held_by(std::initializer_list<std::uint32_t> permits_of_each, std::uint32_t all) {
  state s;
  for (const std::uint32_t each : permits_of_each) s.holders.emplace_back().permits = each;
  s.holding = s.holders.size();
  s.permits = all;
  return s;
}

state read_by(std::size_t readers) {
  state s;
  for (std::size_t n = 0; n < readers; ++n) s.holders.emplace_back().reads = true;
  s.holding = readers;
  return s;
}

TEST(availability, is_free_without_holders_and_waiters) {
  for (const hold_options& wanted : {a_lock(), a_reader(), permits(2, 3)}) {
    EXPECT_EQ(availability_of({}, wanted), availability::free);
  }
}

TEST(availability, is_taken_while_clients_wait) {
  state s = read_by(1);
  s.waiting = 1;
  EXPECT_EQ(availability_of(s, a_reader()), availability::taken);
}

TEST(availability, of_readers_is_free_only_for_readers) {
  EXPECT_EQ(availability_of(read_by(2), a_reader()), availability::free);
  EXPECT_EQ(availability_of(read_by(2), a_lock()), availability::taken);
  EXPECT_EQ(availability_of(read_by(2), permits(1, 5)), availability::taken);
}

TEST(availability, of_permits_counts_them) {
  EXPECT_EQ(availability_of(held_by({2, 1}, 5), permits(2, 5)), availability::free);
  EXPECT_EQ(availability_of(held_by({2, 1}, 5), permits(3, 5)), availability::taken);
  EXPECT_EQ(availability_of(held_by({1}, 5), a_lock()), availability::taken);
  EXPECT_EQ(availability_of(held_by({1}, 5), a_reader()), availability::taken);
}

TEST(availability, of_permits_counts_unlisted_holders) {
  state s = held_by({1, 1}, 5);
  s.holding = 4;
  EXPECT_EQ(availability_of(s, permits(1, 5)), availability::free);
  EXPECT_EQ(availability_of(s, permits(2, 5)), availability::taken);
}

TEST(availability, detects_a_semaphore_of_another_size) {
  state s = held_by({1}, 10);
  EXPECT_EQ(availability_of(s, permits(1, 5)), availability::another_size);
  s.waiting = 1;
  EXPECT_EQ(availability_of(s, permits(1, 5)), availability::another_size);
}

}  // namespace
}  // namespace holdfast::cli
