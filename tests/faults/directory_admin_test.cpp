// Operators' calls on a lock with many holders.
#include <gtest/gtest.h>
#include <unistd.h>

#include "faults/directory_store.hpp"
#include "support/recorder.hpp"

namespace holdfast::faults {
namespace {

TEST(directory_admin, lists_a_thousand_of_2000_readers_and_revokes_all) {
  const directory_store there;
  const auto seen = std::make_shared<test::recorder>();
  store one = there.open({.observe = seen});
  const store other = there.open();
  std::vector<lease> readers;
  for (int n = 0; n < 2'000; ++n) readers.push_back(one.acquire("a", {.shared = true}));
  const state is = other.inspect("a");
  EXPECT_EQ(is.holding, 2'000u);
  EXPECT_EQ(is.holders.size(), state::most_listed);
  EXPECT_EQ(is.holders.front().pid, ::getpid());
  EXPECT_FALSE(is.holders.front().host.empty());
  EXPECT_FALSE(is.holders.front().program.empty());
  EXPECT_TRUE(other.revoke("a", "more than one message can carry"));
  EXPECT_TRUE(seen->comes(event::kind::revoke_requested, 2'000));
}

TEST(directory_admin, breaks_the_lock_of_2000_readers_and_notifies_all) {
  const directory_store there;
  const auto seen = std::make_shared<test::recorder>();
  store one = there.open({.observe = seen});
  store other = there.open();
  std::vector<lease> readers;
  for (int n = 0; n < 2'000; ++n) readers.push_back(one.acquire("a", {.shared = true}));
  EXPECT_TRUE(other.break_lock("a", readers.front().fence(), "more than one message can carry"));
  const lease next = other.acquire("a");
  EXPECT_TRUE(seen->comes(event::kind::lost, 2'000));
}

}  // namespace
}  // namespace holdfast::faults
