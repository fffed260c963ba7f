#include "runtime/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "runtime/inline_io.hpp"
#include "runtime/signal.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::runtime {
namespace {

task<int> number(int n, int* begun = nullptr) {
  if (begun != nullptr) ++*begun;
  co_return n;
}

task<std::unique_ptr<int>> boxed(int n) { co_return std::make_unique<int>(n); }

task<int> twice(int n) {
  const int once = co_await number(n);
  co_return 2 * once;
}

task<int> failing_task() {
  throw std::runtime_error("on purpose");
  co_return 0;
}

task<int> passing_on_the_failure() {
  const int never_there = co_await failing_task();
  co_return never_there;
}

task<bool> catching_the_failure() {
  try {
    const int never_there = co_await failing_task();
    (void)never_there;
  } catch (const std::runtime_error&) {
    co_return true;
  }
  co_return false;
}

TEST(task, does_nothing_before_it_is_awaited) {
  int begun = 0;
  task<int> lazy = number(7, &begun);
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(run_inline(std::move(lazy)), 7);
  EXPECT_EQ(begun, 1);
}

TEST(task, returns_its_value_to_the_awaiter) { EXPECT_EQ(run_inline(twice(21)), 42); }

TEST(task, returns_a_move_only_value) { EXPECT_EQ(*run_inline(boxed(7)), 7); }

TEST(task, throws_its_exception_to_the_awaiter) {
  EXPECT_THROW(run_inline(passing_on_the_failure()), std::runtime_error);
  EXPECT_TRUE(run_inline(catching_the_failure()));
}

TEST(task, destroys_its_arguments_when_never_awaited) {
  const auto watched = std::make_shared<int>(0);
  const auto holding = [](std::shared_ptr<int> mine) -> task<int> { co_return *mine; };
  {
    const task<int> unused = holding(watched);
  }
  EXPECT_EQ(watched.use_count(), 1);
}

task<long> sum_of_ready_awaits(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    const int one = co_await number(1);
    sum += one;
  }
  co_return sum;
}

TEST(task, awaits_a_million_ready_tasks_in_constant_stack) {
  EXPECT_EQ(run_inline(sum_of_ready_awaits(1'000'000)), 1'000'000);
}

task<wake> nap(io& i) {
  const wake why = co_await sleep(i, limit(i.now() + std::chrono::nanoseconds(1)));
  co_return why;
}

task<int> many_naps(io& i, int n) {
  int slept = 0;
  for (; slept < n; ++slept) {
    const wake why = co_await nap(i);
    if (why != wake::late) break;
  }
  co_return slept;
}

TEST(task, awaits_many_suspending_tasks_in_constant_stack) {
  test::manual_io io;
  task_group running(io);
  std::future<int> slept = test::start(running, many_naps(io, 100'000));
  io.advance(std::chrono::nanoseconds(100'000));
  ASSERT_TRUE(test::is_ready(slept));
  EXPECT_EQ(slept.get(), 100'000);
}

task<int> failing_after_a_nap(io& i) {
  const wake why = co_await nap(i);
  (void)why;
  throw std::runtime_error("on purpose");
}

task<int> above(io& i) {
  const int never_there = co_await failing_after_a_nap(i);
  co_return never_there;
}

TEST(task, propagates_its_exception_after_it_was_suspended) {
  test::manual_io io;
  task_group running(io);
  std::future<int> result = test::start(running, above(io));
  io.run();
  EXPECT_FALSE(test::is_ready(result));
  io.advance(std::chrono::nanoseconds(1));
  EXPECT_THROW(result.get(), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::runtime
