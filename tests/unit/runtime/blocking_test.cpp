#include "runtime/blocking.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "runtime/task_group.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::runtime {
namespace {

std::thread::id here() { return std::this_thread::get_id(); }

TEST(blocking, runs_on_the_thread_of_an_inline_caller) {
  inline_io io;
  EXPECT_EQ(run_inline(blocking(io, here)), here());
}

TEST(blocking, runs_in_place_on_an_io_without_workers) {
  test::manual_io io;
  task_group running(io);
  std::future<std::thread::id> where = test::start(running, blocking(io, here));
  io.run();
  EXPECT_EQ(where.get(), here());
}

class blocking_on_the_loop : public testing::Test {
 protected:
  blocking_on_the_loop() { loop_.start(); }
  ~blocking_on_the_loop() override { running_.wait_until_empty(); }
  loop loop_;
  task_group running_{loop_};
};

task<std::thread::id> loop_thread_id() { co_return here(); }

TEST_F(blocking_on_the_loop, runs_on_a_worker_and_resumes_on_the_loop) {
  const std::thread::id loop_thread = test::get(test::start(running_, loop_thread_id()));
  const std::thread::id worker = test::get(test::start(running_, blocking(loop_, here)));
  EXPECT_NE(worker, loop_thread);
  EXPECT_NE(worker, here());
  EXPECT_EQ(test::get(test::start(running_, blocking(loop_, here))), worker);
}

TEST_F(blocking_on_the_loop, does_not_block_the_loop) {
  std::counting_semaphore<> loop_ran(0);
  const auto block = [&] { return test::happens(loop_ran); };
  std::future<bool> blocked = test::start(running_, blocking(loop_, block));
  const auto free_it = [](std::counting_semaphore<>& s) -> task<void> {
    s.release();
    co_return;
  };
  running_.spawn(free_it(loop_ran));
  EXPECT_TRUE(test::get(std::move(blocked)));
}

int throw_on_purpose() { throw std::runtime_error("on purpose"); }

TEST_F(blocking_on_the_loop, rethrows_the_exception_of_the_function) {
  std::future<int> result = test::start(running_, blocking(loop_, throw_on_purpose));
  ASSERT_TRUE(test::happens(result));
  EXPECT_THROW(result.get(), std::runtime_error);
}

TEST(blocking, rethrows_the_exception_to_an_inline_caller) {
  inline_io io;
  EXPECT_THROW(run_inline(blocking(io, throw_on_purpose)), std::runtime_error);
}

TEST_F(blocking_on_the_loop, returns_a_move_only_value) {
  const auto make = [] { return std::make_unique<int>(7); };
  EXPECT_EQ(*test::get(test::start(running_, blocking(loop_, make))), 7);
}

}  // namespace
}  // namespace holdfast::runtime
