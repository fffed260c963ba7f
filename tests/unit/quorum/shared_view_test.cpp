#include "quorum/shared_view.hpp"

#include <gtest/gtest.h>

namespace holdfast::quorum {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

state held_by(const std::string& owner, std::uint64_t fence, std::chrono::milliseconds left) {
  state is;
  is.holding = 1;
  state::holder& who = is.holders.emplace_back();
  who.owner = owner;
  who.fence = fence;
  who.left = left;
  who.since = system_clock::time_point(std::chrono::microseconds(fence));
  return is;
}

state waited_for_by(std::size_t many) {
  state is;
  is.waiting = many;
  is.waiters.resize(many);
  return is;
}

state::note note_of(const std::string& reason, std::chrono::seconds at) {
  state::note is;
  is.reason = reason;
  is.at = system_clock::time_point(at);
  return is;
}

TEST(shared_view, names_the_holder_that_a_majority_names) {
  const state a = held_by("a", 7, 5s), b = held_by("b", 8, 5s);
  const state is = shared_view({&a, &b, &a}, 2);
  EXPECT_EQ(is.holding, 1u);
  ASSERT_EQ(is.holders.size(), 1u);
  EXPECT_EQ(is.holders.front().owner, "a");
}

TEST(shared_view, names_no_holder_when_votes_are_split) {
  const state a = held_by("a", 7, 5s), b = held_by("b", 8, 5s), free;
  EXPECT_TRUE(shared_view({&a, &b, &free}, 2).holders.empty());
  EXPECT_TRUE(shared_view({&a, &b, &a, &b}, 3).holders.empty());
}

TEST(shared_view, shows_how_long_a_majority_keeps_its_votes) {
  const state one = held_by("a", 7, 1s), two = held_by("a", 7, 2s), three = held_by("a", 7, 3s);
  EXPECT_EQ(shared_view({&one, &two, &three}, 2).holders.front().left, 2s);
  EXPECT_EQ(shared_view({&one, &three}, 2).holders.front().left, 1s);
}

TEST(shared_view, takes_the_fence_that_most_servers_know_and_its_date) {
  const state usual = held_by("a", 7, 5s), raised = held_by("a", 1'000, 9s);
  const state is = shared_view({&raised, &usual, &usual}, 2);
  EXPECT_EQ(is.holders.front().fence, 7u);
  EXPECT_EQ(is.holders.front().since, usual.holders.front().since);
}

TEST(shared_view, counts_votes_beyond_a_majority) {
  const state a = held_by("a", 7, 5s), free;
  EXPECT_EQ(shared_view({&a, &a, &free}, 2).holders.front().margin, 0u);
  EXPECT_EQ(shared_view({&a, &a, &a}, 2).holders.front().margin, 1u);
}

TEST(shared_view, treats_holders_of_other_libraries_as_one) {
  state one = held_by("", 0, 5s);
  one.holders.front().foreign = true;
  EXPECT_TRUE(shared_view({&one, &one}, 2).holders.front().foreign);
}

TEST(shared_view, shows_the_waiters_of_the_server_with_most) {
  const state none, some = waited_for_by(2), more = waited_for_by(3);
  const state is = shared_view({&some, &more, &none}, 2);
  EXPECT_EQ(is.waiting, 3u);
  EXPECT_EQ(is.waiters.size(), 3u);
}

TEST(shared_view, keeps_the_last_note_of_a_break_and_of_a_revoke_request) {
  state one = held_by("a", 7, 5s), two = one, other = held_by("b", 8, 5s);
  one.broken = note_of("first", 1s);
  two.broken = note_of("second", 2s);
  two.asked = note_of("please", 3s);
  other.asked = note_of("not you", 4s);
  const state is = shared_view({&one, &two, &other}, 2);
  EXPECT_EQ(is.broken.value().reason, "second");
  EXPECT_EQ(is.asked.value().reason, "please");
}

}  // namespace
}  // namespace holdfast::quorum
