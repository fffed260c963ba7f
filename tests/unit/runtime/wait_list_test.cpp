#include "runtime/wait_list.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace holdfast::runtime {
namespace {

struct numbered_waiter : list_waiter {
  explicit numbered_waiter(int n) noexcept : number(n) {}
  const int number;
};

class wait_list_test : public testing::Test {
 protected:
  wait_list_test() {
    for (numbered_waiter* w : {&one_, &two_, &three_}) list_.add(*w);
  }
  ~wait_list_test() override {
    for (numbered_waiter* w : {&one_, &two_, &three_}) (void)list_.remove(*w);
  }
  [[nodiscard]] std::vector<int> woken() const {
    std::vector<int> numbers;
    for (const numbered_waiter* w : {&one_, &two_, &three_}) {
      if (w->woken.is_set()) numbers.push_back(w->number);
    }
    return numbers;
  }

  numbered_waiter one_{1}, two_{2}, three_{3};
  wait_list<numbered_waiter> list_;
};

TEST_F(wait_list_test, wakes_waiters_in_the_order_they_were_added) {
  EXPECT_EQ(list_.first(), &one_);
  EXPECT_TRUE(list_.wake_first());
  EXPECT_EQ(woken(), std::vector{1});
  EXPECT_TRUE(list_.wake_first());
  EXPECT_EQ(woken(), (std::vector{1, 2}));
  EXPECT_TRUE(list_.wake_first());
  EXPECT_TRUE(list_.empty());
  EXPECT_FALSE(list_.wake_first());
}

TEST_F(wait_list_test, does_not_wake_a_waiter_that_was_removed) {
  for (numbered_waiter* gone : {&two_, &three_, &one_}) {  // the middle, the end and the only one
    EXPECT_TRUE(list_.remove(*gone));
    EXPECT_FALSE(list_.remove(*gone)) << "it is not there any more";
  }
  EXPECT_EQ(list_.first(), nullptr);
  list_.wake_all();
  EXPECT_EQ(woken(), std::vector<int>());
}

TEST_F(wait_list_test, removes_a_waiter_before_it_is_woken) {
  list_.wake_all();
  EXPECT_EQ(woken(), (std::vector{1, 2, 3}));
  EXPECT_FALSE(list_.remove(one_));
}

TEST_F(wait_list_test, keeps_its_order_when_waiters_leave_and_return) {
  EXPECT_TRUE(list_.remove(one_));
  list_.add(one_);
  EXPECT_TRUE(list_.remove(three_));
  EXPECT_TRUE(list_.wake_first());
  EXPECT_EQ(woken(), std::vector{2});
  EXPECT_EQ(list_.first(), &one_);
}

TEST(wait_list, has_no_link_to_a_waiter_that_was_woken_and_destroyed) {
  wait_list<> list;
  std::optional<list_waiter> first(std::in_place), second(std::in_place);
  list.add(*first);
  list.add(*second);
  list.wake_first();
  first.reset();
  list.wake_first();
  second.reset();
  list_waiter third;
  list.add(third);
  EXPECT_EQ(list.first(), &third);
  EXPECT_TRUE(list.remove(third));
}

}  // namespace
}  // namespace holdfast::runtime
