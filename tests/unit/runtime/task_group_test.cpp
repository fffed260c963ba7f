#include "runtime/task_group.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/loop.hpp"
#include "runtime/signal.hpp"
#include "support/bounds.hpp"
#include "support/manual_io.hpp"
#include "support/threads.hpp"

namespace holdfast::runtime {
namespace {

task<void> wait_for(io& i, signal& s) {
  const wake why = co_await wait(i, s);
  (void)why;
}

TEST(task_group, counts_the_tasks_that_have_not_ended) {
  test::manual_io io;
  task_group tasks(io);
  signal first, second;
  tasks.spawn(wait_for(io, first));
  tasks.spawn(wait_for(io, second));
  EXPECT_EQ(tasks.running(), 2);
  io.run();
  EXPECT_EQ(tasks.running(), 2);
  second.set();
  io.run();
  EXPECT_EQ(tasks.running(), 1);
  first.set();
  io.run();
  EXPECT_EQ(tasks.running(), 0);
  tasks.wait_until_empty();
}

struct last_words {
  const task_group& in;
  int& running_then;
  last_words(const task_group& n, int& r) : in(n), running_then(r) {}
  last_words(const last_words&) = delete;
  last_words& operator=(const last_words&) = delete;
  ~last_words() { running_then = in.running(); }
};

task<void> own(std::unique_ptr<last_words> it) {
  (void)it;
  co_return;
}

TEST(task_group, counts_a_task_until_all_it_owned_is_destroyed) {
  test::manual_io io;
  task_group tasks(io);
  int running_then = 0;
  tasks.spawn(own(std::make_unique<last_words>(tasks, running_then)));
  io.run();
  EXPECT_EQ(running_then, 1);
  EXPECT_EQ(tasks.running(), 0);
}

task<void> add_one(int& to) {
  ++to;
  co_return;
}

TEST(task_group, waits_while_other_threads_add_tasks) {
  loop l;
  l.start();
  task_group tasks(l);
  int done = 0;
  {
    const test::threads all(4, [&](int) {
      for (int k = 0; k < 250; ++k) {
        tasks.spawn(add_one(done));
        if (k % 10 == 0) tasks.wait_until_empty();
      }
    });
  }
  tasks.wait_until_empty();
  EXPECT_EQ(done, 1'000);
}

}  // namespace
}  // namespace holdfast::runtime
