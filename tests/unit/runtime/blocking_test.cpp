#include "runtime/blocking.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "runtime/inline_io.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"
#include "support/manual_io.hpp"
#include "support/started.hpp"

namespace holdfast::runtime {
namespace {

std::thread::id here() { return std::this_thread::get_id(); }

TEST(blocking, runs_right_here_for_an_inline_caller) {
  inline_io io;
  EXPECT_EQ(run_inline(blocking(io, here)), here());
}

TEST(blocking, runs_right_here_where_nobody_else_can_run_it) {
  test::manual_io io;
  nursery running(io);
  std::future<std::thread::id> where = test::start(running, blocking(io, here));
  io.run();
  EXPECT_EQ(where.get(), here());
}

class blocking_on_the_loop : public testing::Test {
 protected:
  blocking_on_the_loop() { loop_.start(); }
  ~blocking_on_the_loop() override { running_.wait_until_empty(); }
  loop loop_;
  nursery running_{loop_};
};

task<std::thread::id> home_of() { co_return here(); }

TEST_F(blocking_on_the_loop, runs_on_a_worker_and_goes_on_at_home) {
  const std::thread::id home = test::get(test::start(running_, home_of()));
  const std::thread::id worker = test::get(test::start(running_, blocking(loop_, here)));
  EXPECT_NE(worker, home);
  EXPECT_NE(worker, here());
  EXPECT_EQ(test::get(test::start(running_, blocking(loop_, here))), worker);
}

TEST_F(blocking_on_the_loop, does_not_keep_the_loop_from_running) {
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

TEST_F(blocking_on_the_loop, throws_what_the_function_threw) {
  std::future<int> result = test::start(running_, blocking(loop_, throw_on_purpose));
  ASSERT_TRUE(test::happens(result));
  EXPECT_THROW(result.get(), std::runtime_error);
}

TEST(blocking, throws_what_the_function_threw_to_an_inline_caller) {
  inline_io io;
  EXPECT_THROW(run_inline(blocking(io, throw_on_purpose)), std::runtime_error);
}

TEST_F(blocking_on_the_loop, gives_a_value_that_can_only_be_moved) {
  const auto make = [] { return std::make_unique<int>(7); };
  EXPECT_EQ(*test::get(test::start(running_, blocking(loop_, make))), 7);
}

}  // namespace
}  // namespace holdfast::runtime
