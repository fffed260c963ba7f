#include "core/due_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<holding> any_holding() {
  return std::make_shared<holding>("a", terms{.ttl = 10s}, storage::owner_id{}, nullptr, storage::grant{}, instant());
}

TEST(due_heap, is_never_due_when_it_is_empty) {
  const due_heap heap;
  EXPECT_EQ(heap.first(), runtime::never);
  EXPECT_EQ(heap.size(), 0u);
}

TEST(due_heap, gives_the_earliest_first) {
  due_heap heap;
  const auto late = any_holding(), early = any_holding();
  heap.add(late, instant(2s));
  heap.add(early, instant(1s));
  EXPECT_EQ(heap.first(), instant(1s));
  EXPECT_EQ(heap.top(), early);
  heap.move(*early, instant(3s));
  EXPECT_EQ(heap.top(), late);
}

TEST(due_heap, releases_what_was_removed) {
  due_heap heap;
  const auto h = any_holding();
  heap.add(h, instant(1s));
  EXPECT_EQ(h.use_count(), 2);
  heap.remove(*h);
  EXPECT_EQ(h.use_count(), 1);
  EXPECT_EQ(heap.size(), 0u);
}

TEST(due_heap, ignores_a_holding_that_is_not_there) {
  due_heap heap;
  const auto there = any_holding(), elsewhere = any_holding();
  heap.add(there, instant(1s));
  heap.move(*elsewhere, instant(0s));
  heap.remove(*elsewhere);
  EXPECT_EQ(heap.top(), there);
  EXPECT_EQ(heap.size(), 1u);
}

TEST(due_heap, behaves_like_a_sorted_table_under_random_operations) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return std::uniform_int_distribution(0, n - 1)(random); };
  due_heap heap;
  std::vector<std::shared_ptr<holding>> all;
  for (int k = 0; k < 60; ++k) all.push_back(any_holding());
  std::map<holding*, instant> reference;
  for (int step = 0; step < 20'000; ++step) {
    const auto& h = all[static_cast<std::size_t>(pick(60))];
    const instant at{std::chrono::seconds(pick(40))};  // many equal dates
    const bool there = reference.contains(h.get());
    switch (pick(40) == 0 ? 3 : pick(3)) {
      case 0:
        if (!there) {
          heap.add(h, at);
          reference[h.get()] = at;
        }
        break;
      case 1:
        heap.move(*h, at);
        if (there) reference[h.get()] = at;
        break;
      case 2:
        heap.remove(*h);
        reference.erase(h.get());
        break;
      default: {
        std::set<const holding*> some;
        for (int k = pick(30); k > 0; --k) some.insert(all[static_cast<std::size_t>(pick(60))].get());
        heap.move_if([&](const holding& each) { return some.contains(&each); }, at);
        for (auto& [what, when] : reference) {
          if (some.contains(what)) when = at;
        }
      }
    }
    ASSERT_EQ(heap.size(), reference.size());
    if (reference.empty()) continue;
    instant earliest = runtime::never;
    for (const auto& [what, when] : reference) earliest = std::min(earliest, when);
    ASSERT_EQ(heap.first(), earliest);
    ASSERT_EQ(reference.at(heap.top().get()), earliest);
  }
  std::multiset<instant> left;
  for (const auto& [what, when] : reference) left.insert(when);
  for (const instant at : left) {
    ASSERT_EQ(heap.first(), at);
    heap.remove(*std::shared_ptr<holding>(heap.top()));
  }
  for (const auto& h : all) EXPECT_EQ(h.use_count(), 1);
}

}  // namespace
}  // namespace holdfast::core
